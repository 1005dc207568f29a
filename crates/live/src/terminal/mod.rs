//! A full-screen view in a terminal.
//!
//! Must not know: where frames come from. Start reading at [`show`]; the screen is made in `screen`.

mod screen;

use crate::board::LiveBoard;
use crate::devices::Devices;
use crate::link::{FrameReader, ReceivedFrame};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use screen::ScreenView;
use std::io;
use std::time::{Duration, Instant};

/// Time between two pictures.
const PICTURE_INTERVAL: Duration = Duration::from_millis(250);
/// Longest wait for a key.
const TICK: Duration = Duration::from_millis(50);
/// Rows that a page up or down moves.
const PAGE_ROWS: usize = 10;

/// Shows the run that sends these frames until it is over, and leaves the terminal as it was. `end_run` is called each time that the
/// user asks for the end of the run (`q`, Ctrl-C).
///
/// # Errors
/// The terminal cannot be used.
pub fn show(mut frames: FrameReader, end_run: &mut dyn FnMut()) -> io::Result<()> {
    let mut terminal = ratatui::try_init()?;
    let mut viewer =
        LiveScreen { board: LiveBoard::default(), view: ScreenView::default(), devices: Devices::default() };
    let mut drawn_at: Option<Instant> = None;
    let result = loop {
        let mut has_changed = drawn_at.is_none_or(|drawn_at| drawn_at.elapsed() >= PICTURE_INTERVAL);
        if viewer.take(&mut frames) {
            break Ok(());
        }
        match viewer.keys(end_run) {
            Ok(was_pressed) => has_changed |= was_pressed,
            Err(error) => break Err(error),
        }
        if has_changed {
            drawn_at = Some(Instant::now());
            viewer.view.courses.advance(&viewer.board);
            viewer.view.busy = viewer.devices.busy(&viewer.board.devices);
            if let Err(error) = terminal.draw(|frame| screen::draw(frame, &viewer.board, &mut viewer.view)) {
                break Err(error);
            }
        }
    };
    ratatui::restore();
    result
}

/// What is shown, and how.
struct LiveScreen {
    board: LiveBoard,
    view: ScreenView,
    devices: Devices,
}

impl LiveScreen {
    /// Takes all frames that are there. True: the run is over.
    fn take(&mut self, frames: &mut FrameReader) -> bool {
        loop {
            match frames.receive() {
                ReceivedFrame::Frame(frame) => self.board.apply(*frame),
                ReceivedFrame::Nothing => return self.board.is_over,
                ReceivedFrame::Closed => return true,
            }
        }
    }

    /// Waits a moment for a key or another size. True: the picture changes.
    fn keys(&mut self, end_run: &mut dyn FnMut()) -> io::Result<bool> {
        if !event::poll(TICK)? {
            return Ok(false);
        }
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key, end_run),
            Event::Resize(..) => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn key(&mut self, key: KeyEvent, end_run: &mut dyn FnMut()) {
        let last = self.board.jobs.len().saturating_sub(1);
        let first = &mut self.view.first_row;
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => end_run(),
            KeyCode::Char('q') | KeyCode::Esc => {
                self.view.is_ending = true;
                end_run();
            }
            KeyCode::Down | KeyCode::Char('j') => *first += 1,
            KeyCode::Up | KeyCode::Char('k') => *first = first.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => *first += PAGE_ROWS,
            KeyCode::PageUp => *first = first.saturating_sub(PAGE_ROWS),
            KeyCode::Home => *first = 0,
            KeyCode::End => *first = last,
            _ => {}
        }
        *first = (*first).min(last);
    }
}
