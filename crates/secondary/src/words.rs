//! Texts that rows have in common, such as states and names of models: each is made once for a thread, not for each
//! row.

use std::cell::RefCell;
use std::sync::Arc;

use protocol::Name;
use search::Value;

/// Places for words. More words than places only cost that some are made again.
const PLACES: usize = 256;

thread_local! {
    static WORDS: RefCell<Vec<Option<Name>>> = const { RefCell::new(Vec::new()) };
}

/// A word of the program as a value.
pub(crate) fn word(text: &'static str) -> Value {
    WORDS.with_borrow_mut(|words| {
        if words.is_empty() {
            words.resize(PLACES, None);
        }
        let place = ((text.as_ptr() as usize / 4) ^ (text.len() << 3)) % PLACES;
        match &words[place] {
            Some(word) if word.as_str() == text => Value::Text(word.clone()),
            _ => {
                let word = Name::from(text);
                words[place] = Some(word.clone());
                Value::Text(word)
            }
        }
    })
}

/// Names of models that are remembered.
const NAMES: usize = 512;

thread_local! {
    /// Names as records have them, and as rows do.
    static LOCAL: RefCell<Vec<Option<(Name, Name)>>> = const { RefCell::new(Vec::new()) };
}

/// A name that many records have, such as the ID of an element, as a value of its own. The thread of the engine
/// counts the references to its names all the time; to count there for each row, too, costs more than the row.
pub(crate) fn local(name: &Name) -> Value {
    Value::Text(own(name))
}

/// A name that many records have, as a name of its own; see [`local`].
pub(crate) fn own(name: &Name) -> Name {
    LOCAL.with_borrow_mut(|names| {
        if names.is_empty() {
            names.resize(NAMES, None);
        }
        let address = name.as_str().as_ptr() as usize;
        let place = &mut names[((address >> 4) ^ (address >> 13)) % NAMES];
        match place {
            Some((theirs, own)) if Arc::ptr_eq(&theirs.0, &name.0) => own.clone(),
            _ => {
                let own = Name::from(name.as_str());
                *place = Some((name.clone(), own.clone()));
                own
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_made_once() {
        let [Value::Text(one), Value::Text(other)] = [word("ACTIVE"), word("ACTIVE")] else { panic!() };
        assert_eq!(one.as_str(), "ACTIVE");
        assert!(Arc::ptr_eq(&one.0, &other.0));
        assert_eq!(word("COMPLETED"), Value::from("COMPLETED"));
    }

    #[test]
    fn a_name_has_a_copy_of_its_own() {
        let name = Name::from("task");
        let [Value::Text(one), Value::Text(other)] = [local(&name), local(&name)] else { panic!() };
        assert!(one == name && !Arc::ptr_eq(&one.0, &name.0) && Arc::ptr_eq(&one.0, &other.0));
    }
}
