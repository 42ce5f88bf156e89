//! Identities of rows that something was counted in lately: what comes next most often belongs to one of them, and
//! making an identity costs more than finding it.

use protocol::Name;

/// Identities that are remembered. The elements of a process take turns.
const REMEMBERED_MAX: usize = 16;

/// Identities with what they are made of.
pub(crate) struct Recent<P> {
    rows: Vec<(P, Name)>,
    /// Where the next one goes.
    next: usize,
}

impl<P> Default for Recent<P> {
    fn default() -> Self {
        Self { rows: Vec::new(), next: 0 }
    }
}

impl<P> Recent<P> {
    /// The identity of what passes a test; made of its parts if it is none of the remembered ones.
    pub fn id(&mut self, is_it: impl Fn(&P) -> bool, make: impl FnOnce() -> (P, String)) -> Name {
        if let Some((_, id)) = self.rows.iter().find(|(parts, _)| is_it(parts)) {
            return id.clone();
        }
        let (parts, id) = make();
        let id = Name::from(id);
        let row = (parts, id.clone());
        match self.rows.get_mut(self.next) {
            Some(oldest) => *oldest = row,
            None => self.rows.push(row),
        }
        self.next = (self.next + 1) % REMEMBERED_MAX;
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_remembered() {
        let mut recent = Recent::default();
        let mut made = 0;
        let mut id = |number: usize| {
            let id = recent.id(
                |parts| *parts == number,
                || {
                    made += 1;
                    (number, format!("n{number}"))
                },
            );
            assert_eq!(*id, *format!("n{number}"));
        };
        (0..REMEMBERED_MAX).for_each(&mut id);
        (0..REMEMBERED_MAX).for_each(&mut id);
        // One more takes the place of the first.
        id(REMEMBERED_MAX);
        id(REMEMBERED_MAX);
        id(1);
        id(0);
        assert_eq!(made, REMEMBERED_MAX + 2);
    }
}
