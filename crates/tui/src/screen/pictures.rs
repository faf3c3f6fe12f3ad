//! Pictures on the screen: what hangs where, and what must be taken down or put up.

use std::collections::BTreeSet;

use crate::canvas::{Canvas, Placement, Point, Rect};
use crate::terminal::picture;

/// How pictures are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Not at all.
    #[default]
    None,
    /// By kitty's protocol: pictures lie in a layer of their own.
    Kitty,
    /// By iTerm2's: they lie in the cells.
    Iterm,
    /// As sixels: they lie in the cells.
    Sixel,
}

/// What hangs where.
#[derive(Debug, Default)]
pub(super) struct Easel {
    protocol: Protocol,
    cell: (u16, u16),
    hung: Vec<Placement>,
    sent: BTreeSet<u32>,
}

impl Easel {
    pub(super) fn set(&mut self, protocol: Protocol, cell: (u16, u16)) {
        (self.protocol, self.cell) = (protocol, cell);
    }

    /// Whether nothing hangs.
    pub(super) fn is_empty(&self) -> bool {
        self.hung.is_empty()
    }

    /// Nothing hangs any more, as far as is known.
    pub(super) fn forget(&mut self) {
        self.hung.clear();
        self.sent.clear();
    }

    /// Takes down what is not on the canvas; returns the cells that must be painted again.
    pub(super) fn take_down(&mut self, canvas: &Canvas, out: &mut Vec<u8>) -> Vec<Rect> {
        if self.hung.is_empty() {
            return Vec::new();
        }
        let stays = |placement: &Placement| canvas.pictures().any(|other| other == placement);
        let (stay, gone): (Vec<_>, Vec<_>) = self.hung.drain(..).partition(stays);
        self.hung = stay;
        if self.protocol == Protocol::Kitty {
            for placement in &gone {
                picture::kitty_remove(placement.picture.id(), place_id(placement), out);
            }
            return Vec::new();
        }
        gone.into_iter().map(|placement| placement.area).collect()
    }

    /// What must be written where, for pictures that do not hang yet.
    pub(super) fn put_up(&mut self, canvas: &Canvas) -> Vec<(Point, Vec<u8>)> {
        let bottom = canvas.area().bottom();
        let mut written = Vec::new();
        for placement in canvas.pictures() {
            // A picture in the last row makes a terminal that puts the cursor below it scroll.
            let would_scroll =
                self.protocol != Protocol::Kitty && placement.area.bottom() >= bottom;
            if self.hung.contains(placement) || would_scroll {
                continue;
            }
            let mut bytes = Vec::new();
            let (picture, area) = (&placement.picture, placement.area);
            let drawn = match self.protocol {
                Protocol::None => false,
                Protocol::Kitty => {
                    if self.sent.insert(picture.id()) {
                        picture::kitty_send(picture, &mut bytes);
                    }
                    let cells = (area.width, area.height);
                    picture::kitty_place(picture.id(), place_id(placement), cells, &mut bytes);
                    true
                }
                Protocol::Iterm => picture::iterm(picture, (area.width, area.height), &mut bytes),
                Protocol::Sixel => {
                    let size = (
                        u32::from(area.width) * u32::from(self.cell.0),
                        u32::from(area.height) * u32::from(self.cell.1),
                    );
                    picture::sixel(picture, size, &mut bytes)
                }
            };
            if drawn {
                self.hung.push(placement.clone());
                written.push((Point { x: area.x, y: area.y }, bytes));
            }
        }
        written
    }

    /// Takes everything down.
    pub(super) fn clear(&mut self, out: &mut Vec<u8>) {
        if self.protocol == Protocol::Kitty && !self.sent.is_empty() {
            picture::kitty_clear(out);
        }
        self.forget();
    }
}

/// Names a placement by its place: two of the same picture have different ones.
fn place_id(placement: &Placement) -> u32 {
    (u32::from(placement.area.y) << 12 | u32::from(placement.area.x)) + 1
}
