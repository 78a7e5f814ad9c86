//! `anthill texture`: makes textures of pictures, describes them, reads every tile of them, and writes their levels as
//! pictures.

use crate::cli::console::Console;
use crate::cli::flags::texture::{
    ResizeFlag, TexelFlag, TextureCommand, TextureConvertFlags, TextureKindFlag, TextureMakeFlags,
};
use crate::cli::watcher::Watcher;
use anthill::files::{FileClaims, FileRole};
use anthill::outcome::exit_code::{DONE, INCOMPLETE, INTERRUPTED, WRONG_USAGE};
use anthill::progress::{Activity, Event, Interrupt, Observer, Progress};
use anthill::texture::{
    AlphaMode, MadeTexture, MakeKind, MakeRequest, ResizeMode, TILE_WORDS, TexelFormat, TextureError, TextureFile,
    TextureHeader, TextureKind, convert, make,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Runs the command and returns the exit code.
pub(crate) fn run(command: &TextureCommand, console: &mut Console) -> u8 {
    match command {
        TextureCommand::Make(flags) => make_texture(flags, console),
        TextureCommand::Info(flags) => each(&flags.files, console, |file| Ok(description(file))),
        TextureCommand::Check(flags) => each(&flags.files, console, checked),
        TextureCommand::Convert(flags) => convert_texture(flags, console),
    }
}

fn make_texture(flags: &TextureMakeFlags, console: &mut Console) -> u8 {
    let inputs = flags.pictures.iter().map(|picture| (picture.as_path(), FileRole::Input));
    if let Err(code) = claim(inputs.chain([(flags.output.as_path(), FileRole::MadeTexture)]), console) {
        return code;
    }
    match watched(flags, console) {
        Ok(made) => {
            let state = if made.is_new { "" } else { "up to date: " };
            console.err.line(&format!("anthill: {}: {state}{}", flags.output.display(), in_words(&made.header)));
            DONE
        }
        Err(error) => report(&error, console),
    }
}

/// Makes a texture, shows how far it is, and stops on Ctrl-C.
fn watched(flags: &TextureMakeFlags, console: &Console) -> Result<MadeTexture, TextureError> {
    let interrupt = Interrupt::from((console.listen)());
    let watcher = Watcher::new(flags.progress, console.err.clone(), interrupt.clone());
    let name = flags.output.display().to_string();
    let show = |fraction| {
        let (activity, drawn) = (Activity::MakingTexture { name: name.clone(), fraction }, fraction);
        watcher.notify(Event::Progress(Progress { activity, drawn }));
    };
    watcher.notify(Event::WorldBegin { frame: None });
    let made = make(&request_of(flags), &|fraction| {
        show(fraction.into());
        if interrupt.is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if made.is_ok() {
        show(1.0);
    }
    watcher.notify(Event::WorldEnd);
    made
}

fn convert_texture(flags: &TextureConvertFlags, console: &Console) -> u8 {
    let files = [(flags.texture.as_path(), FileRole::Input), (flags.picture.as_path(), FileRole::Picture)];
    if let Err(code) = claim(files.into_iter(), console) {
        return code;
    }
    let converted = TextureFile::open(&flags.texture).and_then(|file| convert(&file, flags.level, &flags.picture));
    converted.map_or_else(|error| report(&error, console), |()| DONE)
}

/// Claims files, and returns the exit code if two are the same.
fn claim<'a>(files: impl Iterator<Item = (&'a Path, FileRole)>, console: &Console) -> Result<(), u8> {
    let claims = FileClaims::default();
    for (path, role) in files {
        claims.claim(path, role).map_err(|refused| {
            console.err.error(&refused.to_string());
            WRONG_USAGE
        })?;
    }
    Ok(())
}

/// Reports an error, and returns the exit code.
fn report(error: &TextureError, console: &Console) -> u8 {
    console.err.error(&error.to_string());
    match error {
        TextureError::Request(_) => WRONG_USAGE,
        TextureError::Stopped => INTERRUPTED,
        _ => INCOMPLETE,
    }
}

fn request_of(flags: &TextureMakeFlags) -> MakeRequest {
    let kind = match flags.kind {
        TextureKindFlag::Plain => MakeKind::Plain,
        TextureKindFlag::Latlong => MakeKind::LatLong,
        TextureKindFlag::Cube => MakeKind::Cube,
        TextureKindFlag::Shadow => MakeKind::Shadow,
        TextureKindFlag::Occlusion => MakeKind::Occlusion,
        TextureKindFlag::Brickmap => MakeKind::BrickMap,
    };
    MakeRequest {
        wrap: flags.wrap,
        filter: flags.filter,
        filter_width: flags.filter_width.map(|width| [width; 2]),
        format: flags.format.map(|format| match format {
            TexelFlag::U8 => TexelFormat::U8,
            TexelFlag::U16 => TexelFormat::U16,
            TexelFlag::Half => TexelFormat::F16,
            TexelFlag::Float => TexelFormat::F32,
        }),
        resize: match flags.resize {
            ResizeFlag::None => ResizeMode::None,
            ResizeFlag::Up => ResizeMode::Up,
            ResizeFlag::Down => ResizeMode::Down,
        },
        from_srgb: flags.srgb,
        alpha: if flags.keep_alpha { AlphaMode::Keep } else { AlphaMode::Multiply },
        only_if_newer: flags.update,
        ..MakeRequest::new(kind, flags.pictures.clone(), flags.output.clone())
    }
}

/// Prints what `say` returns for each texture, and returns the exit code.
fn each(files: &[PathBuf], console: &mut Console, say: impl Fn(&TextureFile) -> Result<String, TextureError>) -> u8 {
    let mut code = DONE;
    for path in files {
        match TextureFile::open(path).and_then(|file| say(&file)) {
            Ok(text) => console.print(&format!("{}: {text}\n", printed(path))),
            Err(error) => {
                console.err.error(&error.to_string());
                code = INCOMPLETE;
            }
        }
    }
    code
}

fn printed(path: &Path) -> String {
    path.display().to_string().escape_debug().to_string()
}

fn in_words(header: &TextureHeader) -> String {
    let kind = match header.kind {
        TextureKind::Plain => "texture",
        TextureKind::LatLong => "latitude-longitude map",
        TextureKind::Cube => "cube map",
        TextureKind::Shadow => "shadow map",
        TextureKind::DeepShadow => "deep shadow map",
        TextureKind::Points => {
            let tiles = header.tile_count();
            return format!("brick map, {tiles} tile{}", if tiles == 1 { "" } else { "s" });
        }
        TextureKind::Occlusion => "occlusion map",
    };
    let TextureHeader { width, height, levels, channels, format, wrap: [s, t], .. } = header;
    let plural = |count: u32| if count == 1 { "" } else { "s" };
    format!(
        "{kind}, {width} x {height}, {channels} channel{}, {}, {levels} level{}, wrap {},{}",
        plural(*channels),
        format.name(),
        plural(*levels),
        s.name(),
        t.name()
    )
}

fn description(file: &TextureFile) -> String {
    format!("{}{}, {} bytes", in_words(file.header()), channels_in_words(file), file.identity().bytes)
}

/// Returns the channels of a brick map.
fn channels_in_words(file: &TextureFile) -> String {
    let Some(channels) = file.point_channels() else { return String::new() };
    let names: Vec<String> = channels.iter().map(ToString::to_string).collect();
    if names.is_empty() { ", no channels".into() } else { format!(", channels {}", names.join(", ")) }
}

/// Reads every tile.
fn checked(file: &TextureFile) -> Result<String, TextureError> {
    let header = file.header();
    let mut tile = [0; TILE_WORDS];
    let (mut tiles, mut bytes) = (0_u64, 0_u64);
    for level in 0..header.levels {
        let [across, down] = header.level_tiles(level);
        for (y, x) in (0..down).flat_map(|y| (0..across).map(move |x| (y, x))) {
            // The planes of a tile are next to each other in the file.
            for plane in 0..header.planes() {
                bytes += file.read_tile(level, plane, x, y, &mut tile)? as u64;
                tiles += 1;
            }
        }
    }
    Ok(format!("{}{}: {tiles} tiles are readable, {bytes} bytes", in_words(header), channels_in_words(file)))
}
