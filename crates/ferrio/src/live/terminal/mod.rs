//! A full-screen view in a terminal.
//!
//! Must not know: where frames come from. Start reading at [`show`]; the screen is made in `screen`.

mod hosts;
mod screen;

use crate::live::board::LiveBoard;
use crate::live::devices::Devices;
use crate::live::link::{FrameReader, ReceivedFrame};
use ferrio_sys::process::Signal;
use ferrio_sys::signals::SignalQueue;
use ferrio_sys::terminal::{TerminalState, is_in_foreground, size};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::layout::Rect;
use ratatui::{DefaultTerminal, Terminal, TerminalOptions, Viewport};
use screen::ScreenView;
use std::io;
use std::time::{Duration, Instant};

/// Time between two pictures.
const PICTURE_INTERVAL: Duration = Duration::from_millis(250);
/// Longest wait for a key.
const TICK: Duration = Duration::from_millis(50);
/// Rows that a page up or down moves.
const PAGE_ROWS: usize = 10;

/// Largest picture. A terminal may claim to have 65,535 columns and rows.
const MOST_COLUMNS: u16 = 1000;
const MOST_ROWS: u16 = 400;
/// The size of a terminal that does not say its own.
const USUAL_SIZE: (u16, u16) = (80, 24);

/// Shows the run that sends these frames until it is over, and leaves the terminal as it was. `end_run` is called each time that the
/// user asks for the end of the run (`q`, Ctrl-C). While the shell has given the terminal to other programs, nothing is shown. A
/// viewer that was stopped and is continued takes the terminal anew.
///
/// # Errors
/// The terminal cannot be used.
pub fn show(mut frames: FrameReader, state: &TerminalState, end_run: &mut dyn FnMut()) -> io::Result<()> {
    let continued = SignalQueue::open(&[Signal::CONT]).map_err(io::Error::other)?;
    let mut screen = FullScreen::new(state)?;
    let mut viewer =
        LiveScreen { board: LiveBoard::default(), view: ScreenView::default(), devices: Devices::default() };
    let mut drawn_at: Option<Instant> = None;
    while !viewer.take(&mut frames) {
        if continued.take().is_some() {
            // The shell, or what watches this process, has left the screen meanwhile.
            screen.is_shown = false;
        }
        if !is_in_foreground() {
            screen.leave();
            std::thread::sleep(TICK);
            continue;
        }
        let has_entered = screen.enter()?;
        let was_pressed = viewer.keys(end_run)?;
        if has_entered || was_pressed || drawn_at.is_none_or(|drawn_at| drawn_at.elapsed() >= PICTURE_INTERVAL) {
            drawn_at = Some(Instant::now());
            viewer.view.courses.advance(&viewer.board);
            viewer.view.busy = viewer.devices.busy(&viewer.board.devices);
            screen.draw(|frame| screen::draw(frame, &viewer.board, &mut viewer.view))?;
        }
    }
    Ok(())
}

/// The whole terminal, taken and given back.
struct FullScreen<'a> {
    terminal: DefaultTerminal,
    area: Rect,
    state: &'a TerminalState,
    is_shown: bool,
}

impl<'a> FullScreen<'a> {
    fn new(state: &'a TerminalState) -> io::Result<Self> {
        let area = area();
        let options = TerminalOptions { viewport: Viewport::Fixed(area) };
        let terminal = Terminal::with_options(CrosstermBackend::new(io::stdout()), options)?;
        Ok(Self { terminal, area, state, is_shown: false })
    }

    /// Takes the terminal. False: it was taken before.
    fn enter(&mut self) -> io::Result<bool> {
        if self.is_shown {
            return Ok(false);
        }
        self.state.set_raw()?;
        self.is_shown = true;
        execute!(io::stdout(), EnterAlternateScreen)?;
        self.terminal.resize(self.area)?;
        Ok(true)
    }

    fn draw(&mut self, picture: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        let area = area();
        if area != self.area {
            self.area = area;
            self.terminal.resize(area)?;
        }
        self.terminal.draw(picture).map(drop)
    }

    /// Gives the terminal back. One that is gone needs nothing.
    fn leave(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
            self.state.restore();
        }
    }
}

impl Drop for FullScreen<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The part of the terminal that is drawn on, from its corner.
fn area() -> Rect {
    let (n_columns, n_rows) = size().unwrap_or(USUAL_SIZE);
    Rect::new(0, 0, n_columns.min(MOST_COLUMNS), n_rows.min(MOST_ROWS))
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
        let moves_hosts = self.view.moves_hosts(&self.board);
        let n_rows = if moves_hosts { self.board.hosts.hosts.len() } else { self.board.jobs.len() };
        let last = n_rows.saturating_sub(1);
        let first = if moves_hosts { &mut self.view.first_host } else { &mut self.view.first_row };
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => end_run(),
            KeyCode::Char('q') | KeyCode::Esc => {
                self.view.is_ending = true;
                end_run();
            }
            KeyCode::Tab => self.view.moves_jobs = !self.view.moves_jobs,
            KeyCode::Down | KeyCode::Char('j') => *first += 1,
            KeyCode::Up | KeyCode::Char('k') => *first = first.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => *first += PAGE_ROWS,
            KeyCode::PageUp => *first = first.saturating_sub(PAGE_ROWS),
            KeyCode::Home => *first = 0,
            KeyCode::End => *first = last,
            _ => {}
        }
        let first = if moves_hosts { &mut self.view.first_host } else { &mut self.view.first_row };
        *first = (*first).min(last);
    }
}
