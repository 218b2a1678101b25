//! The compiler as a child, and its objects from one start to the next.

use c_compile::{Cache, Error, Job, compile, find};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A compiler that tells of each run in a file, and does as `script` says.
fn compiler(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("cc");
    let log = folder.join("runs");
    let script = format!("#!/bin/sh\n[ \"$1\" = --version ] && {{ echo \"cc 1\"; exit 0; }}\necho run >>{}\n{script}\n", log.display());
    testkit::script(&path, &script);
    path
}

fn runs(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("runs")).unwrap_or_default().lines().count()
}

#[test]
fn the_same_text_is_compiled_once_and_any_difference_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(&folder.path().join("kept")).unwrap();
    let cc = compiler(folder.path(), "cat program.c >program.o; echo \"$@\" >>program.o");
    let flags = |flag: &str| vec![flag.to_owned()];
    let (first, second) = (flags("-O2"), flags("-O3"));
    let job = Job { what: "test", text: "int x;\n", compiler: &cc, arguments: &first };
    let object = compile(&job, Some(&cache)).unwrap();
    assert!(object.starts_with(b"int x;\n-O2 "));
    assert_eq!(compile(&job, Some(&cache)).unwrap(), object);
    assert_eq!(runs(folder.path()), 1);
    compile(&Job { text: "int y;\n", ..job }, Some(&cache)).unwrap();
    compile(&Job { arguments: &second, ..job }, Some(&cache)).unwrap();
    assert_eq!(runs(folder.path()), 3);
    // Another compiler in the same place.
    let cc = compiler(folder.path(), "cat program.c >program.o; echo newer >>program.o");
    assert!(compile(&Job { compiler: &cc, ..job }, Some(&cache)).unwrap().ends_with(b"newer\n"));
    assert_eq!(runs(folder.path()), 4);
    // Without a cache each time.
    compile(&job, None).unwrap();
    compile(&job, None).unwrap();
    assert_eq!(runs(folder.path()), 6);
}

#[test]
fn a_damaged_object_is_compiled_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(&folder.path().join("kept")).unwrap();
    let cc = compiler(folder.path(), "cat program.c >program.o");
    let job = Job { what: "test", text: "int x;\n", compiler: &cc, arguments: &[] };
    compile(&job, Some(&cache)).unwrap();
    for file in std::fs::read_dir(cache.folder()).unwrap().flatten() {
        let mut bytes = std::fs::read(file.path()).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(file.path(), bytes).unwrap();
    }
    assert_eq!(compile(&job, Some(&cache)).unwrap(), b"int x;\n");
    assert_eq!(runs(folder.path()), 2);
}

#[test]
fn a_failure_leaves_nothing_and_says_what_the_compiler_said() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(&folder.path().join("kept")).unwrap();
    let cc = compiler(folder.path(), "echo \"$3: no C\" >&2; exit 1");
    let job = Job { what: "test", text: "no C", compiler: &cc, arguments: &[] };
    assert!(matches!(compile(&job, Some(&cache)), Err(Error::Refused(said)) if said.contains("no C")));
    assert_eq!(std::fs::read_dir(cache.folder()).unwrap().count(), 0);
    let missing = Path::new("/there/is/no/compiler");
    assert_eq!(find(Some(missing), &[]), Err(Some(missing.to_owned())));
    assert!(matches!(compile(&Job { compiler: missing, ..job }, None), Err(Error::Io(said)) if said.contains("/there/is/no/compiler")));
}

/// The generated C was open to all under umask 0. The compiler sees the folder as it is while it works, and what it is told of the environment.
#[test]
fn the_compiler_works_in_a_folder_of_ours_alone_and_without_the_callers_variables() {
    const MARK: &str = "SPLITPLANE_TEST_CHILD";
    if std::env::var_os(MARK).is_none() {
        // umask is the process's, and variables too: in one of our own.
        let me = std::env::current_exe().unwrap();
        let test = "the_compiler_works_in_a_folder_of_ours_alone_and_without_the_callers_variables";
        let script = format!("umask 0; exec {} {test}", me.display());
        let status = std::process::Command::new("sh").args(["-c", &script]).env(MARK, "1").env("CPATH", "/evil").status().unwrap();
        assert!(status.success());
        return;
    }
    let mode = std::fs::Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().permissions(mode).tempdir().unwrap();
    let cc = compiler(folder.path(), "{ stat -c '%a %n' . program.c; env; } >program.o");
    let said = compile(&Job { what: "test", text: "int x;", compiler: &cc, arguments: &[] }, None).unwrap();
    let said = String::from_utf8(said).unwrap();
    assert!(said.starts_with("700 .\n600 program.c\n"), "{said}");
    assert!(!said.contains("CPATH") && !said.contains(MARK), "{said}");
    let kept = folder.path().join("kept");
    Cache::open(&kept).unwrap();
    assert_eq!(std::fs::metadata(&kept).unwrap().mode() & 0o777, 0o700);
}

/// A killed daemon left a folder and a compiler that went on.
#[test]
fn the_compiler_ends_with_us_and_its_folder_with_the_next_start() {
    const MARK: &str = "SPLITPLANE_TEST_KILLED";
    if let Some(folder) = std::env::var_os(MARK) {
        let folder = PathBuf::from(folder);
        let cache = Cache::open(&folder.join("kept")).unwrap();
        let job = Job { what: "test", text: "int x;", compiler: &folder.join("cc"), arguments: &[] };
        let _ = compile(&job, Some(&cache));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    compiler(folder.path(), &format!("echo $$ >{0}.new; mv {0}.new {0}; exec sleep 600", pid.display()));
    let test = "the_compiler_ends_with_us_and_its_folder_with_the_next_start";
    let mut child = std::process::Command::new(std::env::current_exe().unwrap()).arg(test).env(MARK, folder.path()).spawn().unwrap();
    let until = |what: &dyn Fn() -> bool| {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !what() {
            assert!(std::time::Instant::now() < end);
            std::thread::yield_now();
        }
    };
    until(&|| pid.exists());
    let compiler = std::fs::read_to_string(&pid).unwrap().trim().to_owned();
    child.kill().unwrap();
    child.wait().unwrap();
    // Gone, or dead and not yet waited for by who inherited it.
    let status = PathBuf::from(format!("/proc/{compiler}/status"));
    until(&|| std::fs::read_to_string(&status).map_or(true, |text| text.contains("State:\tZ")));
    let kept = folder.path().join("kept");
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 1, "its folder");
    Cache::open(&kept).unwrap().clear_away();
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 0);
}
