//! Who may hold a connection to a server of ours? So many in all, and so many of one client; and when there is no room, who has shown least gives way to who comes:
//! nobody keeps others out by holding connections.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a connection has shown so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// Nothing.
    New,
    /// A request that was answered.
    Asked,
    /// That it is who the server is for: it gives way to nobody.
    Entitled,
}

/// The places of a server, by client.
pub(crate) struct Places<K> {
    most: usize,
    most_of_one: usize,
    taken: AtomicU64,
    /// The one that was quiet for longest first.
    held: Mutex<Vec<Held<K>>>,
    freed: Condvar,
}

struct Held<K> {
    number: u64,
    of: K,
    standing: Standing,
    /// Closes the connection.
    close: Box<dyn FnOnce() + Send>,
}

/// One of them, until it is dropped.
pub(crate) struct Place<K: Copy + Eq> {
    places: Arc<Places<K>>,
    number: u64,
}

impl<K: Copy + Eq> Places<K> {
    pub(crate) fn new(most: usize, most_of_one: usize) -> Arc<Places<K>> {
        Arc::new(Places { most, most_of_one, taken: AtomicU64::new(0), held: Mutex::default(), freed: Condvar::new() })
    }

    /// A place for one more connection of this client: where none is free, that of another one, which is closed; `None`: all are held by who stays.
    pub(crate) fn take(self: &Arc<Places<K>>, of: K, close: impl FnOnce() + Send + 'static) -> Option<Place<K>> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let mut held = self.held();
        let gives_way = if self.has_room(&held, of) { None } else { Some(self.gives_way(&held, of)?) };
        let gone = gives_way.map(|at| held.remove(at));
        held.push(Held { number, of, standing: Standing::New, close: Box::new(close) });
        drop(held);
        gone.into_iter().for_each(|gone| (gone.close)());
        Some(Place { places: self.clone(), number })
    }

    /// Waits at most so long until [`Places::take`] may find one.
    pub(crate) fn wait(&self, of: K, at_most: Duration) {
        let none = |held: &mut Vec<Held<K>>| !self.has_room(held, of) && self.gives_way(held, of).is_none();
        drop(self.freed.wait_timeout_while(self.held(), at_most, none));
    }

    fn has_room(&self, held: &[Held<K>], of: K) -> bool {
        held.len() < self.most && share(held, of) < self.most_of_one
    }

    /// Of this client, if it has its share, and otherwise of the client that has most.
    fn gives_way(&self, held: &[Held<K>], of: K) -> Option<usize> {
        let own = share(held, of) >= self.most_of_one;
        let may = held.iter().enumerate().filter(|(_, held)| held.standing < Standing::Entitled && (!own || held.of == of));
        may.min_by_key(|(at, this)| (Reverse(share(held, this.of)), this.standing, *at)).map(|(at, _)| at)
    }

    fn held(&self) -> MutexGuard<'_, Vec<Held<K>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn share<K: Eq>(held: &[Held<K>], of: K) -> usize {
    held.iter().filter(|held| held.of == of).count()
}

impl<K: Copy + Eq> Place<K> {
    /// It has shown this, just now.
    pub(crate) fn shows(&self, standing: Standing) {
        let mut held = self.places.held();
        let Some(at) = held.iter().position(|held| held.number == self.number) else { return };
        let mut this = held.remove(at);
        this.standing = this.standing.max(standing);
        held.push(this);
    }
}

impl<K: Copy + Eq> Drop for Place<K> {
    fn drop(&mut self) {
        self.places.held().retain(|held| held.number != self.number);
        self.places.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Client and number of each that was closed.
    type Closed = Arc<Mutex<Vec<(char, u32)>>>;

    fn take(places: &Arc<Places<char>>, closed: &Closed, of: char, n: u32) -> Option<Place<char>> {
        let closed = closed.clone();
        places.take(of, move || closed.lock().unwrap().push((of, n)))
    }

    #[test]
    fn who_holds_connections_keeps_nobody_out_but_who_is_entitled() {
        let (places, closed) = (Places::new(6, 4), Closed::default());
        let took = |of, n| take(&places, &closed, of, n);
        let mut held: Vec<Place<char>> = (0..4).map(|n| took('a', n).unwrap()).collect();
        held.extend((0..2).map(|n| took('b', n).unwrap()));
        // All places are held. Of the client with most the one goes that has shown least, and of those the quiet one.
        held[0].shows(Standing::Asked);
        held.push(took('c', 0).unwrap());
        held.push(took('c', 1).unwrap());
        assert_eq!(*closed.lock().unwrap(), [('a', 1), ('a', 2)]);
        // Of clients with as many, whose is the quiet one.
        held.extend((4..6).map(|n| took('a', n).unwrap()));
        assert_eq!(closed.lock().unwrap()[2..], [('a', 3), ('b', 0)]);
        held.iter().for_each(|place| place.shows(Standing::Entitled));
        assert!(took('d', 0).is_none() && took('a', 9).is_none());
        held.pop();
        assert!(took('d', 1).is_some());
        assert_eq!(closed.lock().unwrap().len(), 4, "who is entitled is not closed");
    }

    #[test]
    fn a_client_that_has_its_share_gives_way_to_itself() {
        let (places, closed) = (Places::new(6, 2), Closed::default());
        let _other = take(&places, &closed, 'b', 0).unwrap();
        let held: Vec<Place<char>> = (0..4).map(|n| take(&places, &closed, 'a', n).unwrap()).collect();
        assert_eq!(*closed.lock().unwrap(), [('a', 0), ('a', 1)]);
        held.iter().for_each(|place| place.shows(Standing::Entitled));
        assert!(take(&places, &closed, 'a', 4).is_none());
    }

    #[test]
    fn who_waits_for_a_place_is_woken_when_one_is_free() {
        let (places, closed) = (Places::new(1, 1), Closed::default());
        let first = take(&places, &closed, 'a', 0).unwrap();
        first.shows(Standing::Entitled);
        std::thread::scope(|scope| {
            scope.spawn(|| places.wait('b', Duration::MAX));
            drop(first);
        });
        assert!(take(&places, &closed, 'b', 0).is_some());
    }
}
