"""The metrics as Prometheus' own client reads them, and alert rules and dashboard as a PromQL parser does.

Usage: metrics.py BINARY

The reader of prometheus_client takes OpenMetrics as its specification has it: a sample out of place, a counter without `_total` or a label that is not
escaped is an error there. Names and labels of every expression are then looked for in what the UPF gave.
"""

import json
import os
import re
import sys
import time
import urllib.error
import urllib.request

import promql_parser as promql
import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from gtpu import *  # noqa: F403
from lab import ASIC, Checks, Lab
from n4 import *  # noqa: F403

TOKEN = "0123456789abcdef0123456789abcdef"
UE, SERVER, QFI, GNB_TEID = "10.45.0.2", "10.6.0.2", 9, 0x11
UP, DOWN, NO_SESSION = 40, 30, 7
URL = "http://10.4.0.1:9090"
API = f"""
[api]
listen = "10.4.0.1:9090"
token_file = "TOKEN_FILE"
requests_per_s = 200
"""
MONITORING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/monitoring")
# Prometheus adds these itself.
OF_THE_SCRAPE = {"instance", "job"}
# Grafana puts a value in place of these.
VARIABLES = {"$__rate_interval": "5m", "$__interval": "1m", "$__range": "1h"}


def main():
    checks = Checks("metrics: prometheus_client and a PromQL parser read what we give")
    lab = Lab(sys.argv[1], driver="af_packet", split="@SPLIT@")
    token_file = os.path.join(lab.folder.name, "token")
    with open(os.open(token_file, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
        f.write(TOKEN)
    with open(lab.config) as f:
        text = f.read().replace("@SPLIT@", ASIC + API.replace("TOKEN_FILE", token_file))
    # With a rate, which is not reached: queues of a port have metrics then.
    text = text.replace('name = "n6"\n', 'name = "n6"\nrate_kbps = 1000000\n')
    with open(lab.config, "w") as f:
        f.write(text)
    smf = Smf()
    lab.start()
    checks.equal("association", smf.associate().cause, ACCEPTED)
    session = smf.establish(open5gs(UE, qfi=QFI))
    session.modify(to_gnb(1, GNB_TEID, create=False))
    before, kind = scrape()
    traffic(lab, session.teid(2))
    after, _ = scrape()
    text_is_openmetrics(checks, before, after, kind)
    values_are_the_apis(checks, after)
    expressions(checks, after)
    code, report = lab.stop()
    checks.equal("the daemon ends well", (code, report.get("imbalance")), (0, 0))
    return checks.finish()


def get(path, token=TOKEN):
    request = urllib.request.Request(URL + path, headers={"Authorization": f"Bearer {token}", "Accept": "application/openmetrics-text; version=1.0.0"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode(), answer.headers["Content-Type"]


def api(path):
    return json.loads(get(path)[0])


def scrape():
    """What the parser makes of a scrape: families by name. It raises at the first fault."""
    text, kind = get("/metrics")
    return {family.name: family for family in text_string_to_metric_families(text)}, kind


def traffic(lab, teid):
    """So many packets both ways, and some that no session has; until they are counted."""
    for n in range(UP):
        lab.n3.send(uplink(lab.n3, teid, udp4(UE, SERVER, 300, ident=n), QFI))
    for n in range(DOWN):
        lab.n6.send(downlink(lab.n6, udp4(SERVER, UE, 400, ident=n)))
    for n in range(NO_SESSION):
        lab.n6.send(downlink(lab.n6, udp4(SERVER, "10.45.99.9", 100, ident=n)))
    end = time.monotonic() + 60
    while time.monotonic() < end:
        row = api("/v1/sessions?ue=" + UE)["sessions"][0]
        if (row["uplink"]["packets"], row["downlink"]["packets"]) == (UP, DOWN) and api("/v1/drops")["dropped"].get("no_session", {}).get("packets") == NO_SESSION:
            return
        time.sleep(0.1)


def samples(families):
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for family in families.values() for sample in family.samples}


def text_is_openmetrics(checks, before, after, kind):
    checks.equal("its media type is OpenMetrics'", kind.split(";")[0], "application/openmetrics-text")
    checks.ok("families have a type and a help text", len(after) > 40 and all(family.type != "unknown" and family.documentation for family in after.values()),
              [name for name, family in after.items() if family.type == "unknown" or not family.documentation])
    old, new = samples(before), samples(after)
    counters = {key for key in old if key[0].endswith(("_total", "_bucket", "_count", "_sum"))}
    fell = [key for key in counters if new.get(key, 0) < old[key]]
    grew = [key for key in counters if new.get(key, 0) > old[key]]
    checks.ok("no counter falls or goes, and many have grown", not fell and len(grew) > 10, (fell, len(grew)))
    try:
        get("/metrics", "a-wrong-token-000")
        refused = None
    except urllib.error.HTTPError as e:
        refused = e.code
    checks.equal("without the token there are none", refused, 401)


def values_are_the_apis(checks, families):
    value = samples(families)

    def of(name, **labels):
        return value.get((name, tuple(sorted(labels.items()))))

    ports = api("/v1/ports")
    for port, counted in (("n3", UP), ("n6", DOWN + NO_SESSION)):
        received = of("splitplane_port_received_packets_total", port=port)
        checks.ok(f"{port} has received what was sent, and what the API says", counted <= received <= ports[port]["received"]["packets"], received)
    checks.equal("drops", of("splitplane_dropped_packets_total", reason="no_session"), NO_SESSION)
    carried = {way: sum(of("splitplane_target_carried_packets_total", target=target, **{"from": way}) or 0 for target in ("asic", "x86")) for way in ("access", "core")}
    checks.equal("what targets carried", carried, {"access": UP, "core": DOWN})
    checks.equal("sessions", of("splitplane_sessions"), api("/v1/report")["n4"]["sessions"])
    checks.equal("the peer is up", [of("splitplane_n4_peer_up", peer=peer["node_id"]) for peer in api("/v1/peers")], [1])


def expressions(checks, families):
    """Every expression is one, and asks for metrics and labels that there are."""
    labels = {}
    for family in families.values():
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    # Those of which there is nothing yet, such as causes of rejections.
    empty = {name + ("_total" if family.type == "counter" else "") for name, family in families.items() if not family.samples}
    with open(os.path.join(MONITORING, "alerts.yaml")) as f:
        groups = yaml.safe_load(f)["groups"]
    with open(os.path.join(MONITORING, "dashboard.json")) as f:
        dashboard = json.load(f)
    rules = [(f"alert {rule['alert']}", rule["expr"]) for group in groups for rule in group["rules"]]
    panels = [(f"panel {panel['title']}", target["expr"]) for panel in dashboard["panels"] for target in panel.get("targets", [])]
    checks.ok("there are alerts and panels", len(rules) >= 10 and len(panels) >= 10, (len(rules), len(panels)))
    known = 0
    for where, text in rules + panels:
        for variable, value in VARIABLES.items():
            text = text.replace(variable, value)
        try:
            asked = list(selectors(promql.parse(re.sub(r"\$\w+", "x", text)), frozenset()))
        except ValueError as e:
            checks.ok(f"{where} is PromQL", False, f"{text}: {e}")
            continue
        wrong = []
        for name, wanted in asked:
            if name in labels:
                known += 1
                wrong += [f"{name} has no label {label}" for label in wanted - labels[name] - OF_THE_SCRAPE - {"le"}]
            elif name not in empty:
                wrong.append(f"there is no {name}")
        checks.ok(f"{where} asks for what there is", asked and not wrong, wrong or text)
    checks.ok("most expressions are of metrics that have samples here", known >= 20, known)


def selectors(expression, grouped):
    """Each metric that is asked for, with the labels that must be its."""
    if isinstance(expression, promql.VectorSelector):
        yield expression.name, {matcher.name for matcher in expression.matchers.matchers} | grouped
    elif isinstance(expression, promql.MatrixSelector):
        yield from selectors(expression.vector_selector, grouped)
    elif isinstance(expression, promql.AggregateExpr):
        modifier = expression.modifier
        by = modifier.labels if modifier and modifier.type == promql.AggModifierType.By else []
        yield from selectors(expression.expr, grouped | set(by))
    elif isinstance(expression, promql.BinaryExpr):
        yield from selectors(expression.lhs, grouped)
        yield from selectors(expression.rhs, grouped)
    elif isinstance(expression, promql.Call):
        for argument in expression.args:
            yield from selectors(argument, grouped)
    elif isinstance(expression, (promql.ParenExpr, promql.UnaryExpr, promql.SubqueryExpr)):
        yield from selectors(expression.expr, grouped)


if __name__ == "__main__":
    sys.exit(main())
