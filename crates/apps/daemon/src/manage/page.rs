//! The page for browsers: the files of the folder `page`, which are in the binary. What they show they ask for below `/v1`; they hold no secret
//! themselves, so they are given without the token, which the page then asks for.

use axum::Router;
use axum::http::{HeaderName, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// A file's path, media type and text.
type File = (&'static str, &'static str, &'static str);

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

const FILES: [File; 17] = [
    ("/", HTML, include_str!("page/index.html")),
    ("/page/style.css", CSS, include_str!("page/style.css")),
    ("/page/icon.svg", SVG, include_str!("page/icon.svg")),
    ("/page/main.js", JS, include_str!("page/main.js")),
    ("/page/api.js", JS, include_str!("page/api.js")),
    ("/page/model.js", JS, include_str!("page/model.js")),
    ("/page/dom.js", JS, include_str!("page/dom.js")),
    ("/page/format.js", JS, include_str!("page/format.js")),
    ("/page/table.js", JS, include_str!("page/table.js")),
    ("/page/chart.js", JS, include_str!("page/chart.js")),
    ("/page/picture.js", JS, include_str!("page/picture.js")),
    ("/page/views/overview.js", JS, include_str!("page/views/overview.js")),
    ("/page/views/sessions.js", JS, include_str!("page/views/sessions.js")),
    ("/page/views/session.js", JS, include_str!("page/views/session.js")),
    ("/page/views/drops.js", JS, include_str!("page/views/drops.js")),
    ("/page/views/placement.js", JS, include_str!("page/views/placement.js")),
    ("/page/views/n4.js", JS, include_str!("page/views/n4.js")),
];

/// Only what comes from here runs, and nothing that is text becomes markup: a browser that knows Trusted Types refuses `innerHTML` and the like.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The paths of the page.
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    FILES.iter().fold(Router::new(), |router, (path, ..)| router.route(path, get(serve)))
}

/// Whether a path is a file of the page.
pub(super) fn has(path: &str) -> bool {
    find(path).is_some()
}

fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|(of, ..)| *of == path)
}

async fn serve(uri: Uri) -> Response {
    let Some((_, media, text)) = find(uri.path()) else { return StatusCode::NOT_FOUND.into_response() };
    let headers = [
        (header::CONTENT_TYPE, *media),
        // After an upgrade the old script would ask the new daemon.
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    (headers, *text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn folder() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/manage/page")
    }

    #[test]
    fn every_file_of_the_folder_is_served() {
        let mut there = BTreeSet::new();
        for below in ["", "views/"] {
            for entry in std::fs::read_dir(folder().join(below)).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_file() {
                    there.insert(format!("/page/{below}{}", entry.file_name().into_string().unwrap()).replace("/page/index.html", "/"));
                }
            }
        }
        let served: BTreeSet<String> = FILES.iter().map(|(path, ..)| (*path).to_owned()).collect();
        assert_eq!(served, there);
    }

    #[test]
    fn every_file_that_is_asked_for_is_there() {
        let mut asked = 0;
        for (path, media, text) in FILES.iter().filter(|(_, media, _)| [HTML, JS].contains(media)) {
            let (begin, end) = if *media == HTML { ("=\"/page/", '"') } else { ("from \"", '"') };
            for wanted in text.split(begin).skip(1).filter_map(|rest| rest.split(end).next()) {
                let base = Path::new(path).parent().unwrap_or(Path::new("/"));
                let mut whole = if *media == HTML { format!("/page/{wanted}") } else { format!("{}/{wanted}", base.display()) };
                whole = whole.replace("/./", "/").replace("/views/../", "/");
                assert!(has(&whole), "{path} asks for {wanted}: {whole}");
                asked += 1;
            }
        }
        assert!(asked > 20, "{asked}");
    }

    /// The browser refuses it too; this says where it is.
    #[test]
    fn nothing_is_fetched_from_elsewhere_and_no_text_becomes_markup() {
        for (path, _, text) in FILES {
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for wrong in [
                "http://",
                "https://",
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "localStorage",
                "sessionStorage",
                "style=",
                "onload=",
            ] {
                assert!(!text.contains(wrong), "{path} has {wrong}");
            }
        }
    }
}
