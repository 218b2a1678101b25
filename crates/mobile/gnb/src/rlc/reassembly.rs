//! Which bytes of an SDU are there? Segments come in any order, twice, and overlapping.

use super::MAX_SDU;

/// Most separate pieces of one SDU that are kept: more come only from a peer that sends crumbs. Further ones are dropped, and sent again.
const MAX_PIECES: usize = 64;

/// Why a segment is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SegmentFault {
    /// All of its bytes are there.
    Duplicate,
    /// It ends behind the SDU's last byte, or says that the SDU ends before bytes that are there, or is too long.
    BeyondSdu,
    /// It would be one piece too many.
    Pieces,
}

/// Adds bytes `start..end` to sorted ranges that do not touch each other.
pub(super) fn insert(ranges: &mut Vec<(u32, u32)>, start: u32, end: u32) {
    let first = ranges.partition_point(|range| range.1 < start);
    let behind = ranges.partition_point(|range| range.0 <= end);
    let touched = &ranges[first..behind];
    let all = touched.iter().fold((start, end), |all, range| (all.0.min(range.0), all.1.max(range.1)));
    ranges.splice(first..behind, [all]);
}

/// An SDU that is not whole yet.
#[derive(Default)]
pub(super) struct Partial {
    data: Vec<u8>,
    /// What is there: sorted, and apart from each other.
    pieces: Vec<(u32, u32)>,
    /// Known by the last segment.
    total: Option<u32>,
}

impl Partial {
    /// Adds a segment. `last`: it ends the SDU. Nothing has changed on an error.
    pub(super) fn add(&mut self, start: u16, bytes: &[u8], last: bool) -> Result<(), SegmentFault> {
        let start = u32::from(start);
        let end = start as usize + bytes.len();
        if end > MAX_SDU {
            return Err(SegmentFault::BeyondSdu);
        }
        let end = end as u32;
        let highest = self.pieces.last().map_or(0, |piece| piece.1);
        let contradicts = match (self.total, last) {
            (Some(total), true) => end != total,
            // A byte follows each segment but the last.
            (Some(total), false) => end >= total,
            (None, true) => highest >= end,
            (None, false) => false,
        };
        if contradicts {
            return Err(SegmentFault::BeyondSdu);
        }
        if self.pieces.iter().any(|piece| piece.0 <= start && end <= piece.1) {
            return Err(SegmentFault::Duplicate);
        }
        let joins = self.pieces.iter().any(|piece| piece.0 <= end && start <= piece.1);
        if !joins && self.pieces.len() == MAX_PIECES {
            return Err(SegmentFault::Pieces);
        }
        if self.data.len() < end as usize {
            self.data.resize(end as usize, 0);
        }
        self.data[start as usize..end as usize].copy_from_slice(bytes);
        insert(&mut self.pieces, start, end);
        if last {
            self.total = Some(end);
        }
        Ok(())
    }

    /// The SDU, if it is whole.
    pub(super) fn whole(&self) -> Option<&[u8]> {
        let total = self.total?;
        (self.pieces == [(0, total)]).then(|| &self.data[..total as usize])
    }

    /// Whether a byte is missing before the last one that is there.
    pub(super) fn has_gap(&self) -> bool {
        self.pieces.len() > 1 || self.pieces.first().is_some_and(|piece| piece.0 > 0)
    }

    /// Missing ranges in order; the end is `None` if the SDU's end is not known.
    pub(super) fn missing(&self) -> impl Iterator<Item = (u32, Option<u32>)> {
        let starts = std::iter::once(0).chain(self.pieces.iter().map(|piece| piece.1));
        let ends = self.pieces.iter().map(|piece| Some(piece.0)).chain(std::iter::once(self.total));
        starts.zip(ends).filter(|(start, end)| end.is_none_or(|end| *start < end))
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.data.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_in_any_order_make_the_sdu() {
        let sdu: Vec<u8> = (0..100).collect();
        let cuts = [(60u16, 100), (0, 10), (40, 70), (10, 30), (30, 45)];
        let mut partial = Partial::default();
        for (i, (start, end)) in cuts.into_iter().enumerate() {
            assert!(partial.whole().is_none());
            partial.add(start, &sdu[usize::from(start)..end], end == 100).unwrap();
            if i == 1 {
                assert_eq!(partial.missing().collect::<Vec<_>>(), [(10, Some(60))]);
                assert!(partial.has_gap());
            }
        }
        assert_eq!(partial.whole(), Some(&sdu[..]));
        assert!(!partial.has_gap());
    }

    #[test]
    fn the_end_is_open_until_the_last_segment_is_there() {
        let mut partial = Partial::default();
        partial.add(0, &[1; 10], false).unwrap();
        assert_eq!(partial.missing().collect::<Vec<_>>(), [(10, None)]);
        assert!(!partial.has_gap());
        partial.add(20, &[1; 10], false).unwrap();
        assert_eq!(partial.missing().collect::<Vec<_>>(), [(10, Some(20)), (30, None)]);
    }

    #[test]
    fn a_segment_that_contradicts_the_others_changes_nothing() {
        let mut partial = Partial::default();
        partial.add(50, &[1; 10], true).unwrap();
        assert_eq!(partial.add(50, &[2; 11], true), Err(SegmentFault::BeyondSdu), "another end");
        assert_eq!(partial.add(40, &[2; 20], false), Err(SegmentFault::BeyondSdu), "a middle one that reaches the end");
        assert_eq!(partial.add(60, &[2; 1], false), Err(SegmentFault::BeyondSdu));
        assert_eq!(partial.add(u16::MAX, &[2; 2], false), Err(SegmentFault::BeyondSdu));
        assert_eq!(partial.add(52, &[2; 3], false), Err(SegmentFault::Duplicate));
        let mut open = Partial::default();
        open.add(50, &[1; 10], false).unwrap();
        assert_eq!(open.add(40, &[1; 20], true), Err(SegmentFault::BeyondSdu), "an end where a byte must follow");
        partial.add(0, &[1; 50], false).unwrap();
        assert_eq!(partial.whole(), Some(&[1; 60][..]));
    }

    #[test]
    fn crumbs_are_taken_up_to_a_limit_and_then_only_where_they_join() {
        let mut partial = Partial::default();
        for piece in 0..MAX_PIECES as u16 {
            partial.add(4 * piece, &[0], false).unwrap();
        }
        assert_eq!(partial.add(4 * MAX_PIECES as u16, &[0], false), Err(SegmentFault::Pieces));
        partial.add(1, &[0; 3], false).unwrap();
        partial.add(4 * MAX_PIECES as u16, &[0], false).unwrap();
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let mut ranges = Vec::new();
        for (start, end) in [(10, 20), (30, 40), (50, 60), (20, 30), (5, 55), (70, 80)] {
            insert(&mut ranges, start, end);
        }
        assert_eq!(ranges, [(5, 60), (70, 80)]);
    }
}
