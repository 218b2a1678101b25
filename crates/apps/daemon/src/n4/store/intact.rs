//! Are the files of the embedded store as it wrote them? It keeps a checksum of each of them and looks at none at its start: a damaged number of entries
//! makes it ask for more memory than there is, which ends the process without a word of what to do.
//!
//! A keyspace's `current` has the number and the checksum of its manifest, and the manifest those of all sorted files (lsm-tree 3,
//! `version/persist.rs`). The journal's records have checksums of their own, which the store does look at.

use std::fs::{File, TryLockError};
use std::io::{Cursor, ErrorKind, Read, Result};
use std::path::Path;
use xxhash_rust::xxh3::Xxh3Default;

/// Whoever has a database open holds a lock of this file.
const LOCK: &str = "lock";
/// The folders of keyspaces, in the folder of a database.
const KEYSPACES: &str = "keyspaces";
/// A keyspace's file of which manifest is in force: its number (u64), its checksum (u128), and the checksum's kind (u8), little-endian.
const CURRENT: &str = "current";
const CURRENT_LEN: usize = 8 + 16 + 1;
/// A keyspace's sorted files: of each the manifest has its number (u64), its checksum's kind (u8), its checksum (u128) and a sequence number (u64).
const TABLES: &str = "tables";
/// The kind of checksum that there is: XXH3, 128 bits.
const XXH3: u8 = 0;

/// Looks at all files of a database. What is missing is the store's own to tell.
///
/// # Errors
/// If a file is not what was written, or another process has the database open.
pub(super) fn check(database: &Path) -> fjall::Result<()> {
    // Nobody changes them meanwhile.
    let lock = File::open(database.join(LOCK))?;
    lock.try_lock().map_err(|e| match e {
        TryLockError::WouldBlock => fjall::Error::Locked,
        TryLockError::Error(e) => e.into(),
    })?;
    for keyspace in std::fs::read_dir(database.join(KEYSPACES))? {
        let keyspace = keyspace?.path();
        if keyspace.join(CURRENT).exists() {
            check_keyspace(&keyspace)?;
        }
    }
    Ok(())
}

fn check_keyspace(folder: &Path) -> Result<()> {
    let mut current = Fields(&std::fs::read(folder.join(CURRENT))?);
    if current.0.len() != CURRENT_LEN {
        return Err(damaged(CURRENT));
    }
    let name = format!("v{}", current.u64()?);
    let manifest = std::fs::read(folder.join(&name))?;
    let mut hash = Xxh3Default::new();
    hash.update(&manifest);
    if current.u128()? != hash.digest128() || current.u8()? != XXH3 {
        return Err(damaged(&name));
    }
    for (table, checksum) in tables(&manifest)? {
        let path = folder.join(TABLES).join(table.to_string());
        if hash_of(&path)? != checksum {
            return Err(damaged(&format!("{TABLES}/{table}")));
        }
    }
    Ok(())
}

/// The sorted files of a whole manifest: levels of runs of tables.
fn tables(manifest: &[u8]) -> Result<Vec<(u64, u128)>> {
    let other = |_| damaged("a manifest of another version");
    let archive = sfa::Reader::from_reader(&mut Cursor::new(manifest)).map_err(other)?;
    let section = archive.toc().section(b"tables").and_then(|section| {
        let begin = usize::try_from(section.pos()).ok()?;
        manifest.get(begin..begin.checked_add(usize::try_from(section.len()).ok()?)?)
    });
    let mut fields = Fields(section.ok_or_else(|| damaged("a manifest of another version"))?);
    let mut tables = Vec::new();
    for _ in 0..fields.u8()? {
        for _ in 0..fields.u8()? {
            for _ in 0..fields.u32()? {
                let (id, _kind, checksum, _sequence) = (fields.u64()?, fields.u8()?, fields.u128()?, fields.u64()?);
                tables.push((id, checksum));
            }
        }
    }
    Ok(tables)
}

fn hash_of(path: &Path) -> Result<u128> {
    let (mut file, mut hash) = (File::open(path)?, Xxh3Default::new());
    let mut part = vec![0; 64 << 10];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(hash.digest128()),
            len => hash.update(&part[..len]),
        }
    }
}

/// Little-endian numbers, one after the other.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk().ok_or_else(|| damaged("a manifest of another version"))?;
        self.0 = rest;
        Ok(*field)
    }

    fn u8(&mut self) -> Result<u8> {
        self.take().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn u128(&mut self) -> Result<u128> {
        self.take().map(u128::from_le_bytes)
    }
}

fn damaged(what: &str) -> std::io::Error {
    std::io::Error::new(ErrorKind::InvalidData, format!("{what} is not what was written"))
}
