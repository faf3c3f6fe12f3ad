//! The languages: their names, endings, words, strings and comments.

use super::words::{Quote, Traits, Words};
use super::{Grammar, markup};

/// A language that can be coloured.
#[derive(Debug)]
pub struct Language {
    /// Its name, other names, endings of its files, and files of a fixed name.
    names: &'static str,
    /// How its lines are read.
    pub(super) grammar: Grammar,
}

impl Language {
    /// The language of a name, an alias or an ending.
    pub fn named(name: &str) -> Option<&'static Self> {
        if name.is_empty() {
            return None;
        }
        let name = name.to_ascii_lowercase();
        LANGUAGES.iter().find(|language| language.names.split(' ').any(|known| known == name))
    }

    /// The language of a file, by its name or ending.
    pub fn of_path(path: &str) -> Option<&'static Self> {
        let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
        Self::named(file).or_else(|| Self::named(ending))
    }

    /// How many there are.
    pub fn count() -> usize {
        LANGUAGES.len()
    }

    /// The language at a place in the list.
    pub fn numbered(number: usize) -> Option<&'static Self> {
        LANGUAGES.get(number)
    }
}

const fn quote(open: &'static str) -> Quote {
    Quote { open, close: open, escapes: true, spans_lines: false }
}

const fn long(open: &'static str, close: &'static str) -> Quote {
    Quote { open, close, escapes: true, spans_lines: true }
}

const fn bare(open: &'static str, close: &'static str) -> Quote {
    Quote { open, close, escapes: false, spans_lines: true }
}

const PAIR: &[Quote] = &[quote("\""), quote("'")];
const DOUBLE: &[Quote] = &[quote("\"")];
const SCRIPT: &[Quote] = &[quote("\""), quote("'"), long("`", "`")];
const TRIPLE: &[Quote] = &[long("\"\"\"", "\"\"\""), long("'''", "'''"), quote("\""), quote("'")];
const JVM: &[Quote] = &[long("\"\"\"", "\"\"\""), quote("\""), quote("'")];
const SHELL: &[Quote] = &[long("\"", "\""), bare("'", "'")];
const C_BLOCK: Option<(&str, &str)> = Some(("/*", "*/"));
const C_LIKE: u16 = Traits::CAPITAL_TYPES | Traits::CALLS;

/// A language with comments of C, to be changed where it differs.
const C: Words = Words {
    comments: &["//"],
    block: C_BLOCK,
    nests: false,
    quotes: PAIR,
    keywords: "",
    types: "",
    traits: Traits(C_LIKE),
};
/// A language with comments of a shell, to be changed where it differs.
const HASH: Words = Words { comments: &["#"], block: None, ..C };

macro_rules! languages {
    ($($names:literal => $words:expr;)*) => {
        &[$(Language { names: $names, grammar: Grammar::Words(&$words) }),*,
            Language { names: "html htm xhtml vue svelte astro", grammar: Grammar::Markup },
            Language { names: "xml svg xsl xsd plist rss csproj xaml", grammar: Grammar::Markup },
            Language { names: "diff patch", grammar: Grammar::Lines(markup::diff_line) },
            Language { names: "markdown md mdx rst", grammar: Grammar::Lines(markup::markdown_line) },
            Language { names: "log console output", grammar: Grammar::Lines(markup::log_line) },
        ]
    };
}

const LANGUAGES: &[Language] = languages! {
    "rust rs" => Words {
        nests: true,
        quotes: &[long("\"", "\"")],
        keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct trait type union unsafe use where while yield",
        types: "bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64",
        traits: Traits(C_LIKE | Traits::RUST | Traits::ATTRIBUTES | Traits::BANG),
        ..C
    };
    "python py py3 pyi python3 pyw starlark bzl" => Words {
        quotes: TRIPLE,
        keywords: "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
        types: "int str float bool list dict set tuple bytes object",
        traits: Traits(C_LIKE | Traits::AT),
        ..HASH
    };
    "javascript js jsx mjs cjs node" => Words {
        quotes: SCRIPT,
        keywords: "async await break case catch class const continue debugger default delete do else export extends finally for from function get if import in instanceof let new of return set static switch throw try typeof var void while with yield",
        traits: Traits(C_LIKE | Traits::AT),
        ..C
    };
    "typescript ts tsx mts cts" => Words {
        quotes: SCRIPT,
        keywords: "abstract as asserts async await break case catch class const continue declare default delete do else enum export extends finally for from function get if implements import in infer instanceof interface is keyof let namespace new of private protected public readonly return satisfies set static switch throw try type typeof var void while yield",
        types: "any bigint boolean never number object string symbol unknown",
        traits: Traits(C_LIKE | Traits::AT),
        ..C
    };
    "go golang" => Words {
        quotes: &[quote("\""), quote("'"), bare("`", "`")],
        keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
        types: "any bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr",
        ..C
    };
    "c h" => Words {
        keywords: "auto break case const continue default do else enum extern for goto if inline register restrict return sizeof static struct switch typedef union volatile while",
        types: "bool char double float int long short signed size_t ssize_t uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t unsigned void",
        traits: Traits(C_LIKE | Traits::PREPROCESSOR),
        ..C
    };
    "c++ cpp cc cxx hpp hh hxx cuda cu" => Words {
        keywords: "alignas auto break case catch class co_await co_return concept const constexpr consteval continue decltype default delete do else enum explicit export extern final for friend goto if inline mutable namespace new noexcept operator override private protected public requires return sizeof static static_cast struct switch template throw try typedef typename union using virtual volatile while",
        types: "bool char double float int long short signed size_t unsigned void wchar_t",
        traits: Traits(C_LIKE | Traits::PREPROCESSOR),
        ..C
    };
    "c# cs csharp csx" => Words {
        keywords: "abstract as async await base break case catch class const continue default delegate do else enum event explicit extern finally fixed for foreach get if implicit in init interface internal is lock namespace new operator out override params private protected public readonly record ref return sealed set sizeof static struct switch throw try typeof unsafe using var virtual void when where while yield",
        types: "bool byte char decimal double float int long object sbyte short string uint ulong ushort",
        traits: Traits(C_LIKE | Traits::PREPROCESSOR),
        ..C
    };
    "java" => Words {
        quotes: JVM,
        keywords: "abstract assert break case catch class const continue default do else enum extends final finally for if implements import instanceof interface native new package permits private protected public record return sealed static switch synchronized throw throws transient try var void volatile while yield",
        types: "boolean byte char double float int long short",
        traits: Traits(C_LIKE | Traits::AT),
        ..C
    };
    "kotlin kt kts" => Words {
        quotes: JVM,
        nests: true,
        keywords: "abstract as break by catch class companion const constructor continue data do else enum external final finally for fun if import in infix init inline inner interface internal is lateinit object open operator out override package private protected public return sealed suspend throw try typealias val var when where while",
        traits: Traits(C_LIKE | Traits::AT),
        ..C
    };
    "scala sc sbt" => Words {
        quotes: JVM,
        nests: true,
        keywords: "abstract case catch class def do else enum extends final finally for given if implicit import lazy match new object override package private protected return sealed then throw trait try type using val var while with yield",
        traits: Traits(C_LIKE | Traits::AT),
        ..C
    };
    "swift" => Words {
        quotes: JVM,
        nests: true,
        keywords: "actor as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough fileprivate for func guard if import in init inout internal is let mutating open operator override private protocol public repeat required rethrows return some static struct subscript switch throw throws try typealias var weak where while",
        traits: Traits(C_LIKE | Traits::AT),
        ..C
    };
    "objective-c objc m mm" => Words {
        keywords: "break case const continue default do else enum extern for goto if in return sizeof static struct switch typedef union volatile while",
        types: "BOOL char double float id int long short unsigned void",
        traits: Traits(C_LIKE | Traits::AT | Traits::PREPROCESSOR),
        ..C
    };
    "dart" => Words {
        quotes: TRIPLE,
        keywords: "abstract as assert async await break case catch class const continue default do else enum export extends extension external factory final finally for get hide if implements import in is late library mixin new on operator part required rethrow return set show static switch sync throw try typedef var void while with yield",
        types: "bool double dynamic int num",
        traits: Traits(C_LIKE | Traits::AT),
        ..C
    };
    "php php5 phtml" => Words {
        comments: &["//", "#"],
        keywords: "abstract and array as break case catch class clone const continue declare default do echo else elseif empty enum extends final finally fn for foreach function global if implements include instanceof interface isset list match namespace new or print private protected public readonly require require_once return static switch throw trait try unset use var while yield",
        types: "bool float int mixed string void",
        traits: Traits(C_LIKE | Traits::DOLLAR),
        ..C
    };
    "ruby rb rake gemfile rakefile podfile" => Words {
        keywords: "alias and begin break case class def defined do else elsif end ensure for if in module next not or redo require rescue retry return then undef unless until when while yield attr_accessor attr_reader include extend private protected public raise",
        traits: Traits(C_LIKE | Traits::AT),
        ..HASH
    };
    "perl pl pm" => Words {
        keywords: "and cmp do else elsif eq for foreach ge gt if last le lt my ne next no not or our package print redo require return say sub unless until use while",
        traits: Traits(Traits::CALLS | Traits::DOLLAR | Traits::AT),
        ..HASH
    };
    "bash sh shell zsh fish ksh shellscript .bashrc .zshrc .profile .bash_profile" => Words {
        quotes: SHELL,
        keywords: "alias break case cd continue declare do done echo elif else esac eval exec exit export fi for function if in local readonly return select set shift source test then trap unset until while",
        traits: Traits(Traits::DOLLAR | Traits::HYPHENS),
        ..HASH
    };
    "powershell ps1 psm1 pwsh" => Words {
        block: Some(("<#", "#>")),
        quotes: SHELL,
        keywords: "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach from function if in param process return switch throw trap try until using while",
        traits: Traits(Traits::DOLLAR | Traits::HYPHENS | Traits::ANY_CASE),
        ..HASH
    };
    "batch bat cmd" => Words {
        comments: &["REM ", "rem ", "::"],
        block: None,
        quotes: DOUBLE,
        keywords: "call cd copy del echo else exit for goto if in not pause set setlocal shift start",
        traits: Traits(Traits::ANY_CASE),
        ..C
    };
    "sql psql mysql sqlite pgsql plsql ddl" => Words {
        comments: &["--"],
        quotes: &[bare("'", "'"), quote("\""), quote("`")],
        keywords: "add all alter and as asc begin between by cascade case check column commit constraint create cross database default delete desc distinct drop else end except exists foreign from full group having if in index inner insert intersect into is join key left like limit not offset on or order outer primary recursive references returning right rollback select set table then transaction trigger union unique update using values view when where with",
        types: "bigint blob boolean char date decimal double float int integer interval json jsonb numeric real serial smallint text time timestamp timestamptz uuid varchar",
        traits: Traits(Traits::CALLS | Traits::ANY_CASE),
        ..C
    };
    "json jsonc json5 jsonl ndjson geojson webmanifest" => Words { traits: Traits(Traits::KEYS), ..C };
    "yaml yml" => Words { traits: Traits(Traits::KEYS | Traits::HYPHENS), ..HASH };
    "toml cargo.lock poetry.lock" => Words {
        quotes: TRIPLE,
        traits: Traits(Traits::KEYS | Traits::HYPHENS),
        ..HASH
    };
    "ini cfg conf properties editorconfig .editorconfig gitconfig .gitconfig desktop service env .env dotenv" => Words {
        comments: &["#", ";"],
        traits: Traits(Traits::KEYS | Traits::HYPHENS | Traits::DOLLAR),
        ..HASH
    };
    "css scss sass less" => Words {
        keywords: "important and not only from to",
        traits: Traits(Traits::CALLS | Traits::AT | Traits::KEYS | Traits::HYPHENS | Traits::DOLLAR),
        ..C
    };
    "dockerfile docker containerfile" => Words {
        keywords: "add arg as cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume workdir",
        traits: Traits(Traits::ANY_CASE | Traits::DOLLAR | Traits::HYPHENS),
        ..HASH
    };
    "makefile make mk gnumakefile" => Words {
        keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override unexport vpath",
        traits: Traits(Traits::KEYS | Traits::DOLLAR | Traits::HYPHENS),
        ..HASH
    };
    "just justfile" => Words {
        keywords: "alias else export if import mod set",
        traits: Traits(Traits::KEYS | Traits::AT | Traits::HYPHENS),
        ..HASH
    };
    "cmake cmakelists.txt" => Words {
        keywords: "add_executable add_library cmake_minimum_required else elseif endforeach endfunction endif endmacro find_package foreach function if include install macro message option project set target_link_libraries",
        traits: Traits(Traits::CALLS | Traits::DOLLAR | Traits::ANY_CASE),
        ..HASH
    };
    "nginx" => Words {
        keywords: "events http if include listen location proxy_pass return rewrite root server server_name set upstream",
        traits: Traits(Traits::DOLLAR),
        ..HASH
    };
    "terraform tf hcl tfvars" => Words {
        comments: &["#", "//"],
        keywords: "data dynamic for for_each if in locals module output provider resource terraform variable",
        types: "any bool list map number object set string",
        traits: Traits(Traits::CALLS | Traits::KEYS | Traits::HYPHENS),
        ..C
    };
    "nix" => Words {
        comments: &["#"],
        quotes: &[long("''", "''"), long("\"", "\"")],
        keywords: "assert else if import in inherit let or rec then with",
        traits: Traits(Traits::KEYS | Traits::HYPHENS),
        ..C
    };
    "graphql gql" => Words {
        quotes: JVM,
        keywords: "directive enum extend fragment implements input interface mutation on query scalar schema subscription type union",
        traits: Traits(Traits::CAPITAL_TYPES | Traits::AT | Traits::DOLLAR),
        ..HASH
    };
    "protobuf proto" => Words {
        keywords: "enum extend extensions import map message oneof option optional package repeated required reserved returns rpc service stream syntax",
        types: "bool bytes double fixed32 fixed64 float int32 int64 sint32 sint64 string uint32 uint64",
        ..C
    };
    "lua" => Words {
        comments: &["--"],
        block: Some(("--[[", "]]")),
        quotes: &[quote("\""), quote("'"), bare("[[", "]]")],
        keywords: "and break do else elseif end for function goto if in local not or repeat return then until while",
        traits: Traits(Traits::CALLS),
        ..C
    };
    "haskell hs lhs" => Words {
        comments: &["--"],
        block: Some(("{-", "-}")),
        nests: true,
        quotes: DOUBLE,
        keywords: "case class data default deriving do else family forall foreign hiding if import in infix infixl infixr instance let module newtype of qualified then type where",
        traits: Traits(Traits::CAPITAL_TYPES),
        ..C
    };
    "elm" => Words {
        comments: &["--"],
        block: Some(("{-", "-}")),
        nests: true,
        quotes: JVM,
        keywords: "alias as case else exposing if import in let module of port then type where",
        traits: Traits(Traits::CAPITAL_TYPES),
        ..C
    };
    "ocaml ml mli f# fs fsharp fsx" => Words {
        comments: &["//"],
        block: Some(("(*", "*)")),
        nests: true,
        quotes: DOUBLE,
        keywords: "and as assert begin class constraint do done downto else end exception external for fun function functor if in include inherit initializer lazy let match member method module mutable namespace new object of open or private rec sig struct then to try type use val virtual when while with",
        types: "bool char float int list option string unit",
        traits: Traits(Traits::CAPITAL_TYPES),
    };
    "elixir ex exs heex" => Words {
        quotes: JVM,
        keywords: "after alias and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import in not or quote raise receive require rescue try unless unquote use when with",
        traits: Traits(C_LIKE | Traits::AT),
        ..HASH
    };
    "erlang erl hrl" => Words {
        comments: &["%"],
        block: None,
        keywords: "after and andalso begin case catch div end fun if not of or orelse receive rem try when xor",
        traits: Traits(Traits::CALLS | Traits::CAPITAL_TYPES),
        ..C
    };
    "clojure clj cljs edn lisp cl el elisp scheme scm racket rkt" => Words {
        comments: &[";"],
        block: None,
        quotes: &[long("\"", "\"")],
        keywords: "and case cond def define defmacro defn defun do else fn for if import lambda let loop ns or quote recur require set setq unless when while",
        traits: Traits(Traits::HYPHENS),
        ..C
    };
    "r rmd" => Words {
        keywords: "break else for function if in library next repeat require return while",
        types: "TRUE FALSE NA Inf",
        ..HASH
    };
    "julia jl" => Words {
        block: Some(("#=", "=#")),
        quotes: JVM,
        keywords: "abstract baremodule begin break catch const continue do else elseif end export finally for function global if import in let local macro module mutable primitive quote return struct try using where while",
        traits: Traits(C_LIKE | Traits::AT),
        ..HASH
    };
    "matlab octave" => Words {
        comments: &["%"],
        block: Some(("%{", "%}")),
        keywords: "break case catch classdef continue else elseif end for function global if otherwise parfor persistent return switch try while",
        traits: Traits(Traits::CALLS),
        ..C
    };
    "zig zon" => Words {
        block: None,
        keywords: "align and anytype asm async await break catch comptime const continue defer else enum errdefer error export extern fn for if inline noalias opaque or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while",
        types: "bool f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize void type anyerror noreturn",
        traits: Traits(C_LIKE | Traits::AT),
        ..C
    };
    "nim nims" => Words {
        quotes: TRIPLE,
        keywords: "and as block break case const continue converter discard do elif else enum except export finally for from func if import in include is iterator let macro method mod not of or proc raise return template try type using var when while yield",
        ..HASH
    };
    "solidity sol" => Words {
        keywords: "abstract break constructor continue contract delete do else emit enum error event external for function if immutable import indexed interface internal is library mapping memory modifier new payable pragma private public pure return returns revert storage struct throw try unchecked using view virtual while",
        types: "address bool bytes bytes32 int uint uint8 uint256 string",
        ..C
    };
    "groovy gradle jenkinsfile" => Words {
        quotes: TRIPLE,
        keywords: "as assert break case catch class continue def default do else enum extends final finally for if implements import in instanceof interface new package private protected public return static switch throw throws trait try void while",
        traits: Traits(C_LIKE | Traits::AT),
        ..C
    };
    "vim viml vimrc .vimrc" => Words {
        comments: &["\" "],
        block: None,
        quotes: &[bare("'", "'")],
        keywords: "augroup autocmd call command else elseif endfor endfunction endif endwhile execute finish for function if let map nnoremap noremap return set unlet while",
        traits: Traits(Traits::CALLS),
        ..C
    };
    "latex tex sty bib" => Words {
        comments: &["%"],
        block: None,
        quotes: &[],
        keywords: "begin end documentclass usepackage section subsection item label ref cite",
        traits: Traits(0),
        nests: false,
        types: "",
    };
    "assembly asm s nasm" => Words {
        comments: &[";", "//"],
        keywords: "add and call cmp dec div inc int ja jae jb jbe je jg jge jl jle jmp jne jnz jz lea mov mul nop not or pop push ret section shl shr sub syscall test xor",
        types: "rax rbx rcx rdx rsi rdi rsp rbp eax ebx ecx edx",
        traits: Traits(Traits::ANY_CASE),
        ..C
    };
};
