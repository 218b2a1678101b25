"""The daemon's page in Chromium: its numbers are those of the API and of what was sent, and nothing that a peer chose becomes markup.

Usage: page.py BINARY [FOLDER]     screenshots go into FOLDER

The browser is in the far namespace and reaches the UPF by N4's interface, with a token as beyond loopback.
"""

import json
import os
import re
import shutil
import sys
import time
import urllib.request

from playwright.sync_api import sync_playwright

from gtpu import *  # noqa: F403
from lab import GNB, Checks, Lab
from n4 import *  # noqa: F403

TOKEN = "0123456789abcdef0123456789abcdef"
SERVER = "10.6.0.2"
UE, UE_V6, UE_IDLE, UE_HOSTILE = "10.45.0.2", "2001:db8:45:2::", "10.45.0.3", "10.45.0.4"
QFI, GNB_TEID = 9, 0x11
UP, UP_SIZE, DOWN, DOWN_SIZE, NO_SESSION = 300, 500, 200, 900, 7
MORE = 120
HOSTILE = "<img src=x onerror=document.title='owned'>"
SPLIT = """
[split]
fast = "asic"
capacity = 1024
policy = "planned"
rules = [{ ue = "10.45.0.2/32", then = "fast" }]

[api]
listen = "10.4.0.1:9090"
token_file = "TOKEN_FILE"
requests_per_s = 200
"""
URL = "http://10.4.0.1:9090"
# Of a browser's assertion: the machine may be busy.
PATIENCE = 20_000


def main():
    checks = Checks("page: Chromium shows what the API says and what was sent")
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser_path:
        print("skipped: no chromium (apt install chromium)")
        return 0
    folder = sys.argv[2] if len(sys.argv) > 2 else None
    lab = Lab(sys.argv[1], driver="af_packet", split="@SPLIT@")
    token_file = os.path.join(lab.folder.name, "token")
    with open(os.open(token_file, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
        f.write(TOKEN)
    with open(lab.config) as f:
        text = f.read().replace("@SPLIT@", SPLIT.replace("TOKEN_FILE", token_file))
    # What leaves by N6 waits there, for a rate that is not reached.
    text = text.replace('name = "n6"\n', 'name = "n6"\nrate_kbps = 1000000\n')
    with open(lab.config, "w") as f:
        f.write(text)
    smf = Smf()
    lab.start()
    checks.equal("association", smf.associate().cause, ACCEPTED)
    session = establish(smf, UE, UE_V6)
    idle_session = smf.establish(open5gs(UE_IDLE))
    hostile = smf.establish(named(open5gs(UE_HOSTILE), HOSTILE))
    checks.ok("sessions", session.up_seid and idle_session.up_seid and hostile.up_seid)
    others = [establish(smf, f"10.45.1.{n}") for n in range(1, MORE + 1)]
    checks.ok("and more of them", all(other.up_seid for other in others))
    traffic(lab, session.teid(2))
    flood.teid = others[0].teid(2)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        try:
            context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
            view = View(checks, context, folder)
            for part in (token, overview, sessions_and_search, paging, story, markup, drops, placement, n4_view, looks, keyboard):
                part(checks, view, lab, smf, session, idle_session, hostile)
            away(checks, view, lab)
            checks.equal("no errors in the browser's console", view.complaints(), [])
        finally:
            browser.close()
    return checks.finish()


def establish(smf, ue, ue6=None):
    session = smf.establish(open5gs(ue, ue6, qfi=QFI))
    session.modify(to_gnb(1, GNB_TEID, create=False))
    return session


def named(rules, dnn):
    """The rules with another DNN, as one label."""
    label = bytes([len(dnn)]) + dnn.encode()
    return [other(159, label) if isinstance(ie, IE_APN_DNN) else ie for ie in rules]


def traffic(lab, teid):
    """So many packets both ways, and some that no session has."""
    for n in range(UP):
        lab.n3.send(uplink(lab.n3, teid, udp4(UE, SERVER, UP_SIZE, ident=n), QFI))
    for n in range(DOWN):
        lab.n6.send(downlink(lab.n6, udp4(SERVER, UE, DOWN_SIZE, ident=n)))
    for n in range(NO_SESSION):
        lab.n6.send(downlink(lab.n6, udp4(SERVER, "10.45.99.9", 100, ident=n)))
    end = time.monotonic() + 20
    while time.monotonic() < end:
        now = api("/v1/drops")
        if now["dropped"].get("no_session", {}).get("packets") == NO_SESSION and charged(api("/v1/sessions?ue=" + UE)["sessions"][0]) == (UP, DOWN):
            return
        time.sleep(0.05)


def charged(row):
    return row["uplink"]["packets"], row["downlink"]["packets"]


def api(path):
    request = urllib.request.Request(URL + path, headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


class View:
    """A tab, and what its console said."""

    def __init__(self, checks, context, folder):
        self.checks, self.context, self.folder = checks, context, folder
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.console, self.expected = [], []
        self.page.on("console", lambda message: self.console.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.asked = []
        self.page.on("request", lambda request: self.asked.append(request.url))

    def complaints(self):
        return [text for text in self.console if not any(re.search(known, text) for known in self.expected)]

    def go(self, address, heading):
        self.page.evaluate("address => { location.hash = address }", address)
        self.page.wait_for_selector(f"main h1:has-text('{heading}')")

    def until(self, what, condition, argument=None):
        """Waits until it holds in the page, and counts whether it did."""
        try:
            self.wait(condition, argument)
            return self.checks.ok(what, True)
        except TimeoutError:
            return self.checks.ok(what, False, self.page.inner_text("main")[:2000])

    def meets(self, what, shown, wanted):
        """Waits until the page, which is a second behind, shows what the API says: both may change in between."""
        end = time.monotonic() + PATIENCE / 1000
        while (seen := shown()) != (said := wanted()) and time.monotonic() < end:
            time.sleep(0.1)
        return self.checks.equal(what, seen, said)

    def wait(self, condition, argument=None):
        """Waits until it holds. Playwright's own wait evaluates text in the page, which the page's policy forbids."""
        end = time.monotonic() + PATIENCE / 1000
        while not self.page.evaluate(condition, argument):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.05)

    def table(self, heading):
        """Rows of the table of this heading, as lists of text."""
        return self.page.evaluate(
            """heading => [...document.querySelectorAll("main table")].filter(t => t.ariaLabel === heading)
               .flatMap(t => [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.innerText.trim())))""", heading)

    def fact(self, name):
        return self.page.evaluate(
            "name => [...document.querySelectorAll('dt')].filter(dt => dt.textContent === name).map(dt => dt.nextElementSibling.innerText.trim())[0]", name)

    def shot(self, name):
        if self.folder:
            os.makedirs(self.folder, exist_ok=True)
            self.page.screenshot(path=os.path.join(self.folder, f"{name}.png"), full_page=True)


def grouped(n):
    return f"{n:,}"


def token(checks, view, lab, smf, session, *_):
    """The page comes without the token, and shows nothing until it has it."""
    view.expected.append("401")
    page = view.page
    page.goto(URL + "/")
    page.wait_for_selector("#ask[open]")
    view.shot("token")
    checks.ok("the token is asked for, and nothing is shown before", "10.45" not in page.content() and "upf.p4" not in page.content())
    page.fill("#token", "wrong-token-0000000")
    page.press("#token", "Enter")
    view.wait("document.querySelector('#ask-error').textContent !== '' && document.querySelector('#ask').open")
    checks.ok("a wrong one is refused", True)
    page.fill("#token", TOKEN)
    page.press("#token", "Enter")
    page.wait_for_selector(".pill.live")
    kept = page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])")
    checks.ok("it is kept in memory only", TOKEN not in kept and TOKEN not in page.content(), kept)


def overview(checks, view, lab, *_):
    page = view.page
    view.until("the overview has its picture", "document.querySelectorAll('.picture .target').length === 2")
    report = api("/v1/report")
    sessions = page.inner_text("[data-tile=Sessions] b")
    checks.equal("sessions are those of the API", sessions, grouped(report["n4"]["sessions"]))
    checks.equal("and those that were made", report["n4"]["sessions"], MORE + 3)
    view.until("ports have received what the API says", """async () => {
        return document.querySelector("main table[aria-label=Ports]")?.rows.length === 4; }""")
    # Both change while neighbours ask for each other: they meet.
    wanted = None
    for _ in range(20):
        wanted = {name: (grouped(port["received"]["packets"]), grouped(port["transmitted"]["packets"])) for name, port in api("/v1/ports").items()}
        shown = {row[0]: (row[4], row[5]) for row in view.table("Ports")}
        if shown == wanted:
            break
        time.sleep(0.3)
    checks.equal("received and sent of each port", shown, wanted)
    text = page.text_content(".picture")
    checks.ok("the picture names ports and targets", all(name in text for name in ("n3", "n6", "n4u", "asic", "x86", "modelled")), text)
    # Traffic while it is looked at: lines, rates and charts.
    for _ in range(3):
        flood(lab)
        time.sleep(0.8)
    view.until("rates are shown while packets flow", "[...document.querySelectorAll('[data-chart=throughput] path.line')].some(p => p.getAttribute('d').length > 20)")
    checks.ok("frames have waited in queues of a port", any(port != "rates" for port, _ in waited()), waited())
    view.meets("queues of the port with a rate", lambda: {(row[0], row[1]): (row[2], row[3]) for row in view.table("Queues")}, waited)
    view.until("latency is shown", "/[0-9] .s/.test(document.querySelector('[data-chart=latency] .area').ariaLabel) || document.querySelector('[data-chart=latency] path.line').getAttribute('d') !== ''")
    view.shot("overview")


def waited():
    """What waited and left, of each queue in which anything has waited."""
    queues = {(name, str(n)): queue for name, port in api("/v1/ports").items() for n, queue in enumerate(port["waiting"])}
    queues[("rates", "–")] = api("/v1/report")["shaped"]
    return {key: (grouped(queue["queued"]), grouped(queue["sent"]["packets"])) for key, queue in queues.items() if queue["queued"] or queue["dropped"]}


def flood(lab):
    for n in range(400):
        lab.n3.send(uplink(lab.n3, flood.teid, udp4("10.45.1.1", SERVER, 1000, ident=n), QFI))
        lab.n6.send(downlink(lab.n6, udp4(SERVER, "10.45.1.1", 1200, ident=n)))


flood.teid = None


def search(view, text, by="auto"):
    page = view.page
    view.go("#/sessions", "Sessions")
    page.fill("#q", text)
    page.select_option("#by", by)
    page.click("button:has-text('Search')")
    # What is drawn is of this search, and it is over: the address changes before the view does.
    view.wait("""text => {
        const drawn = document.querySelector("form.search")?.dataset.key ?? "";
        return new URLSearchParams(drawn.slice("search-".length)).get("q") === text && !/Looking/.test(document.querySelector("main").innerText);
    }""", text)
    return view.table("Sessions")


def sessions_and_search(checks, view, lab, smf, session, idle_session, hostile):
    seid, teid = hex(session.up_seid), hex(session.teid(2))
    for what, text, by in [
        ("UE address", UE, "auto"), ("IPv6 address in the UE's prefix", UE_V6 + "7", "auto"), ("SEID", seid, "seid"),
        ("SEID in decimal", str(session.up_seid), "seid"), ("TEID", teid, "teid"),
    ]:
        rows = search(view, text, by)
        checks.ok(f"a session is found by {what}", [row[0] for row in rows] == [seid], f"{text}: {rows}")
    checks.ok("a number is looked for as SEID and as TEID", seid in [row[0] for row in search(view, seid)])
    rows = search(view, HOSTILE, "dnn")
    checks.ok("a session is found by DNN", [row[0] for row in rows] == [hex(hostile.up_seid)], rows)
    checks.equal("what nobody has is not found", (search(view, "10.99.0.1"), view.page.inner_text("main .empty")), ([], "No session is like this."))
    search(view, "zz", "slice")
    checks.ok("what cannot be looked for is said", "expected a type" in view.page.inner_text("main .error"))
    view.expected.append("400|404")


def paging(checks, view, lab, smf, session, *_):
    page = view.page
    view.go("#/sessions", "Sessions")
    view.wait("document.querySelectorAll('main tbody tr').length === 50")
    seen = []
    for number in range(1, 4):
        view.wait("number => document.querySelector('.pager span').textContent === `Page ${number}` && document.querySelectorAll('main td a').length > 0", number)
        seen += [row[0] for row in view.table("Sessions")]
        if number < 3:
            page.click("button:has-text('Next page')")
    wanted = [row["seid"] for row in api("/v1/sessions?limit=1000")["sessions"]]
    checks.equal("three pages are all sessions, each once, in order", seen, wanted)
    checks.ok("there is no fourth", page.is_disabled("button:has-text('Next page')"))
    page.click("button:has-text('Previous page')")
    view.wait("seid => document.querySelector('main tbody a')?.textContent === seid", wanted[50])
    checks.ok("and one can go back", True)
    view.shot("sessions")


def story(checks, view, lab, smf, session, idle_session, hostile):
    seid = hex(session.up_seid)
    view.go(f"#/sessions/{seid}", f"Session {seid}")
    page = view.page
    page.wait_for_selector("table[aria-label=Counters]")
    detail = api(f"/v1/sessions/{seid}")
    counters = view.table("Counters")[0][1:5]
    usage = detail["usage"]["1"]
    checks.equal("counters are those of the API", counters, [grouped(usage[way][unit]) for way in ("uplink", "downlink") for unit in ("packets", "bytes")])
    checks.equal("and what was sent", counters, [grouped(n) for n in (UP, UP * UP_SIZE, DOWN, DOWN * DOWN_SIZE)])
    checks.equal("its target and reason", (view.fact("Target"), view.fact("Reason")), (detail["placement"]["target"], detail["placement"]["reason"]))
    checks.equal("the plan's rule put it on the fast target", (view.fact("Target"), view.fact("Reason")), ("asic", "rule"))
    text = page.inner_text("main")
    checks.ok("its rules in words", all(part in text for part in (f"tunnel 0x{session.teid(2):x} at 10.3.0.1", f"in tunnel 0x{GNB_TEID:x} at {GNB}", "MBR 1.0 Gbit/s up", "from core (internet)")), text)
    view.shot("session")
    # One whose UE is idle: its packets wait.
    seid = hex(idle_session.up_seid)
    lab.n6.send(downlink(lab.n6, udp4(SERVER, UE_IDLE, 100)))
    view.go(f"#/sessions/{seid}", f"Session {seid}")
    view.until("a packet that waits for an idle UE is shown", "[...document.querySelectorAll('dd')].some(dd => dd.textContent === '1 packet') && /buffers it and tells the SMF/.test(document.body.innerText)")
    view.go("#/sessions/0xdead", "Session 0xdead")
    view.until("a session that there is not is said", "/there is no session 0xdead/.test(document.querySelector('main').innerText)")


def markup(checks, view, lab, smf, session, idle_session, hostile):
    page = view.page
    shown = HOSTILE
    for address, heading in ((f"#/sessions?q={UE_HOSTILE}", "Sessions"), (f"#/sessions/{hex(hostile.up_seid)}", "Session ")):
        view.go(address, heading)
        view.wait("text => document.querySelector('main').innerText.includes(text)", shown)
        images = page.evaluate("document.querySelectorAll('main img, main script').length")
        checks.ok("a hostile DNN is text", images == 0 and "owned" not in page.title(), page.title())
    view.go("#/sessions?q=%3Cimg%20src%3Dx%3E&by=dnn", "Sessions")
    view.wait("document.querySelector('#q').value === '<img src=x>'")
    checks.equal("so is what the address of the page has", page.evaluate("document.querySelectorAll('main img').length"), 0)
    refused = page.evaluate("() => { try { document.createElement('p').innerHTML = '<b>x</b>'; return 'taken'; } catch (e) { return e.name; } }")
    checks.equal("the browser refuses markup from text", refused, "TypeError")
    view.expected.append("TrustedHTML|Trusted Type")
    elsewhere = [url for url in view.asked if not url.startswith(URL)]
    checks.equal("nothing was fetched from elsewhere", elsewhere, [])


def drops(checks, view, *_):
    view.go("#/drops", "Drops")
    view.until("reasons are explained", "/no session has this UE address/.test(document.querySelector('main').innerText)")
    rows = {row[0]: row for row in view.table("Packets dropped by program and engine")}
    checks.equal("drops are those that were made", rows["no_session"][1], grouped(NO_SESSION))
    checks.equal("at their port", rows["no_session"][3], f"n6 {NO_SESSION}")
    known = {of["reason"]: of for of in api("/v1/reasons") if of["by"] in ("program", "engine")}
    checks.equal("in the words of the document", rows["no_session"][4:6], [known["no_session"]["meaning"], known["no_session"]["what_to_do"]])
    total = sum(of["packets"] for of in api("/v1/drops")["dropped"].values())
    checks.equal("and all of them", sum(int(row[1].replace(",", "")) for row in rows.values()), total)
    view.shot("drops")


def placement(checks, view, lab, smf, session, *_):
    view.go("#/placement", "Placement")
    view.until("a chart has the sessions of each target", "document.querySelectorAll('[data-chart=placed] path.line').length === 2")
    view.meets("sessions of each target", lambda: {row[0]: row[2] for row in view.table("Targets")},
               lambda: {f"{name} (modelled)" if of["modelled"] else name: grouped(of["sessions"]) for name, of in api("/v1/targets").items()})
    view.meets("what targets carried, dropped and punted", lambda: {row[0].split(" ")[0]: row[5:10] for row in view.table("Targets")},
               lambda: {name: [grouped(of[what]["packets"]) for what in ("uplink", "downlink", "either", "dropped", "punted")] for name, of in api("/v1/targets").items()})
    targets = api("/v1/targets").values()
    # Users' packets alone are carried: neither those of no session nor ARP, of which there was some.
    checks.ok("drops are apart from what is carried", sum(of["dropped"]["packets"] for of in targets) >= NO_SESSION, targets)
    checks.ok("ARP is apart from it", sum(of["punted"]["packets"] for of in targets) > 0, targets)
    view.meets("the last moves, the newest first", lambda: [row[0] for row in view.table("Last moves")],
               lambda: [move["seid"] for move in reversed(api("/v1/offload")["recent"])])
    view.shot("placement")


def n4_view(checks, view, *_):
    view.go("#/n4", "N4")
    view.page.wait_for_selector("table[aria-label='Messages by type']")
    view.meets("messages by type", lambda: {row[0]: (row[1], row[3]) for row in view.table("Messages by type")},
               lambda: {kind: (grouped(of["received"]), grouped(of["sent"])) for kind, of in api("/v1/report")["n4_messages"].items()})
    checks.equal("established", view.fact("Established"), grouped(MORE + 3))
    peers = [[row[0], row[3]] for row in view.table("Peers")]
    checks.equal("peers", peers, [[peer["node_id"], grouped(peer["sessions"])] for peer in api("/v1/peers")])
    view.shot("n4")


VIEWS = [("#/", "Overview", "overview"), ("#/sessions", "Sessions", "sessions"), ("#/drops", "Drops", "drops"), ("#/placement", "Placement", "placement"),
         ("#/n4", "N4", "n4")]


def looks(checks, view, lab, smf, session, *_):
    """Every view in both schemes at three widths: nothing is wider than the screen."""
    page = view.page
    seid = hex(session.up_seid)
    for scheme, width in (("dark", 1280), ("light", 360), ("dark", 360), ("light", 820)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        for address, heading, name in [*VIEWS, (f"#/sessions/{seid}", f"Session {seid}", "session")]:
            view.go(address, heading)
            view.wait("document.querySelectorAll('main .view > *').length > 1")
            over = page.evaluate("""() => { const wide = document.documentElement.clientWidth;
                return [document.documentElement.scrollWidth - wide, ...[...document.querySelectorAll("header *, main .card *, main .tile, main .chart, main h1, main .search *")]
                  .filter(e => !e.closest("svg, pre, .scroll > *") && e.getBoundingClientRect().right > wide + 1).map(e => e.outerHTML.slice(0, 80)).slice(0, 3)]; }""")
            checks.equal(f"{name}, {scheme}, {width} px: nothing beyond the edge", over, [0])
            view.shot(f"{name}-{scheme}-{width}")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="dark")
    checks.ok("dark and light differ", page.evaluate("getComputedStyle(document.body).backgroundColor") != dark)
    # In words, as WCAG 2 has it: 4.5 for text.
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        poor = page.evaluate(CONTRAST)
        checks.equal(f"text is readable, {scheme}", poor, [])
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})


CONTRAST = """() => {
  const parse = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return m.length === 4 && m[3] === 0 ? null : m; };
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c) return c; } return [255, 255, 255]; };
  const poor = [];
  for (const e of document.querySelectorAll("header *, main *")) {
    if (e.closest("svg") || !e.checkVisibility() || e.disabled || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(e.outerHTML.slice(0, 80));
  }
  return poor;
}"""


def keyboard(checks, view, lab, smf, session, *_):
    page = view.page
    view.go("#/n4", "N4")
    page.keyboard.press("/")
    view.wait("document.activeElement.id === 'q'")
    page.keyboard.type(UE)
    page.keyboard.press("Enter")
    view.wait("document.querySelectorAll('main td a').length === 1 && !/Looking/.test(document.querySelector('main').innerText)")
    checks.ok("search by keyboard alone", True)
    page.keyboard.press("Tab")
    for _ in range(10):
        if page.evaluate("document.activeElement.matches('main td a')"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"main h1:has-text('Session {hex(session.up_seid)}')")
    checks.ok("and to a session's story", True)
    # What is typed stays while the page is drawn anew each second.
    view.go("#/sessions", "Sessions")
    page.fill("#q", "half typed")
    page.wait_for_timeout(2500)
    checks.equal("what was typed stays while the page lives", page.input_value("#q"), "half typed")


def away(checks, view, lab):
    """The daemon ends: the page says so, and goes on when there is one again."""
    view.expected.append("ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|net::ERR")
    view.go("#/", "Overview")
    view.page.wait_for_selector(".pill.live")
    code, report = lab.stop()
    checks.equal("the daemon ends well", (code, report.get("imbalance")), (0, 0))
    view.until("the page says that the daemon is away", "document.querySelector('.pill.away') && /does not answer/.test(document.querySelector('#notice').innerText)")
    view.shot("away")
    lab.start()
    view.until("and that it is back", "document.querySelector('.pill.live') && document.querySelector('[data-tile=Sessions] b').innerText === '0'")


if __name__ == "__main__":
    sys.exit(main())
