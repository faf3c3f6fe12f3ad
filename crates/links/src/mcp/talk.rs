//! What is said between a server and whoever borrows its tools.

use base::transcript::File;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use url::Url;

/// What came of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// What it says and shows, in order.
    pub content: Vec<Content>,
    /// The same for programs; `content` repeats it where the server keeps to the rules.
    pub structured: Option<Value>,
    /// Whether the server says that the call failed.
    pub failed: bool,
}

/// A piece of what a server says.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Words.
    Text(String),
    /// A picture.
    Picture(File),
    /// Sound.
    Sound(File),
    /// A resource that can be read.
    Link {
        /// Its address.
        uri: String,
        /// Its name.
        name: String,
        /// What it is.
        description: String,
    },
    /// A resource itself.
    Resource {
        /// Its address.
        uri: String,
        /// Its words.
        text: String,
    },
    /// A resource that is no text, and no picture or sound either.
    Blob {
        /// Its address.
        uri: String,
        /// Its bytes.
        file: File,
    },
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Whether the model is to have said it.
    pub by_model: bool,
    /// What is said.
    pub content: Content,
}

/// Whoever has asked a server for something. The server may ask back while it works.
pub trait Borrower: Send + Sync {
    /// Takes note of how far the server is. It must not wait.
    fn progress(&self, progress: Progress);
    /// Fills in a form of the server's.
    fn elicit(&self, asked: Elicitation) -> BoxFuture<'_, Elicited>;
    /// Has a model answer for the server; the text of a failure goes to the server.
    fn sample(&self, asked: Sampling) -> BoxFuture<'_, Result<Sampled, String>>;
}

/// How far a server is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How much is done, if the server counts.
    pub done: Option<f64>,
    /// Of how much, if the server knows.
    pub total: Option<f64>,
    /// What it does now.
    pub message: Option<String>,
}

/// Something a server wants the user to fill in.
#[derive(Debug, Clone, PartialEq)]
pub enum Elicitation {
    /// Fields.
    Form {
        /// What it is for, in the server's words.
        message: String,
        /// The fields, in order.
        fields: Vec<Field>,
    },
    /// A page to visit: what is typed there never passes us.
    Page {
        /// What it is for, in the server's words.
        message: String,
        /// The page.
        url: Url,
    },
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name in the answer.
    pub name: String,
    /// What to show for it.
    pub title: String,
    /// What it means.
    pub description: String,
    /// Whether it must be filled in.
    pub required: bool,
    /// What holds where nothing is said.
    pub default: Option<Value>,
    /// What may be filled in.
    pub kind: Kind,
}

/// What may be filled in.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A text.
    Text {
        /// Fewest letters.
        least: Option<u64>,
        /// Most letters.
        most: Option<u64>,
        /// `email`, `uri`, `date`, `date-time`, if it must be one.
        format: Option<String>,
    },
    /// A number.
    Number {
        /// Whether it must be whole.
        whole: bool,
        /// The smallest.
        least: Option<f64>,
        /// The largest.
        most: Option<f64>,
    },
    /// Yes or no.
    Switch,
    /// One of some.
    OneOf(Vec<Choice>),
    /// Several of some.
    SomeOf(Vec<Choice>),
}

/// Something to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What goes into the answer.
    pub value: String,
    /// What to show.
    pub title: String,
}

/// What came of a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Elicited {
    /// It was filled in.
    Filled(Map<String, Value>),
    /// The user does not want to.
    Declined,
    /// Nobody has decided.
    Cancelled,
}

/// An answer a server wants of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// What the model is told of its part.
    pub system: Option<String>,
    /// The talk so far.
    pub messages: Vec<Message>,
    /// Most tokens of the answer.
    pub max_tokens: u64,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampled {
    /// Its words.
    pub text: String,
    /// Its name.
    pub model: String,
    /// Whether the limit of tokens cut it off.
    pub cut_off: bool,
}
