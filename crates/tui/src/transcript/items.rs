//! The items of a conversation in order. An item keeps its number when others come before or after it.

use std::collections::{HashMap, VecDeque};

use base::CallId;

use super::call::ToolCall;
use super::item::{Body, Item};

/// An item's number: later items have greater ones.
pub(crate) type Number = i64;

/// Items, numbered.
#[derive(Debug, Default)]
pub(crate) struct Items {
    list: VecDeque<Item>,
    first: Number,
    calls: HashMap<CallId, Number>,
}

impl Items {
    /// The number of the first, and the number after the last.
    pub(crate) fn range(&self) -> std::ops::Range<Number> {
        self.first..self.first + Number::try_from(self.list.len()).unwrap_or(0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn get(&self, number: Number) -> Option<&Item> {
        self.list.get(usize::try_from(number - self.first).ok()?)
    }

    pub(crate) fn get_mut(&mut self, number: Number) -> Option<&mut Item> {
        self.list.get_mut(usize::try_from(number - self.first).ok()?)
    }

    pub(crate) fn last(&self) -> Option<&Item> {
        self.list.back()
    }

    /// Items with their numbers, the newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = (Number, &Item)> {
        self.range().rev().zip(self.list.iter().rev())
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Item> {
        self.list.iter_mut()
    }

    pub(crate) fn push(&mut self, item: Item) -> Number {
        let number = self.range().end;
        self.note_calls(&item, number);
        self.list.push_back(item);
        number
    }

    /// Takes the newest away.
    pub(crate) fn pop(&mut self) -> Option<Item> {
        self.list.pop_back()
    }

    /// Puts older items before all.
    pub(crate) fn put_before(&mut self, older: Items) {
        for item in older.list.into_iter().rev() {
            self.first -= 1;
            self.note_calls(&item, self.first);
            self.list.push_front(item);
        }
    }

    /// Adds a call: to the newest item if both only read, else as an item of its own.
    pub(crate) fn push_call(&mut self, entry: Option<base::EntryId>, call: ToolCall) {
        let number = self.range().end - 1;
        let reads = super::call::is_reading(&call.name);
        if let Some(last) = self.list.back_mut().filter(|last| reads && last.is_reading())
            && let Body::Calls(calls) = &mut last.body
        {
            self.calls.insert(call.id.clone(), number);
            calls.push(call);
            last.changed();
            return;
        }
        self.push(Item::new(entry, Body::Calls(vec![call])));
    }

    /// The number of the item that shows a call.
    pub(crate) fn number_of_call(&self, id: &CallId) -> Option<Number> {
        self.calls.get(id).copied()
    }

    /// A call that is shown, to be changed.
    pub(crate) fn call_mut(&mut self, id: &CallId) -> Option<&mut ToolCall> {
        let number = *self.calls.get(id)?;
        let item = self.get_mut(number)?;
        item.changed();
        let Body::Calls(calls) = &mut item.body else { return None };
        calls.iter_mut().find(|call| call.id == *id)
    }

    fn note_calls(&mut self, item: &Item, number: Number) {
        if let Body::Calls(calls) = &item.body {
            for call in calls {
                self.calls.insert(call.id.clone(), number);
            }
        }
    }
}
