#!/usr/bin/env python3
"""Writes the dashboards in `dashboards/` from what `content.py` says is on them.

    generate.py            writes them
    generate.py --check    says whether what is there is what would be written

Here stands how a dashboard is built; what it shows stands in `content.py`.
"""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "dashboards"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
# Every query asks for the servers that are chosen above the dashboard.
CHOSEN = 'instance=~"$instance"'
WINDOW = "[$__rate_interval]"
COLUMNS = 24
GRAPH_HEIGHT = 8
STAT_HEIGHT = 4


# Queries.


def summed(series, by=""):
    """A sum, for each value of some labels."""
    return f"sum by ({by}) ({series})" if by else f"sum({series})"


def gauge(metric, labels=""):
    """The series of a metric."""
    return f"{metric}{{{CHOSEN}{', ' + labels if labels else ''}}}"


def total(metric, labels="", by=""):
    """The sum of a gauge, for each value of some labels."""
    return summed(gauge(metric, labels), by)


def rate(metric, labels="", by=""):
    """How much a counter grows in a second, for each value of some labels."""
    return summed(f"rate({gauge(metric, labels)}{WINDOW})", by)


def growth(metric, labels="", by=""):
    """How much a gauge grows in a second, for each value of some labels."""
    return summed(f"deriv({gauge(metric, labels)}{WINDOW})", by)


def share(metric, labels, whole_labels=""):
    """Which part of what a counter counts has some labels; 0 when none has."""
    part, whole = rate(metric, labels), rate(metric, whole_labels)
    return f"({part} or vector(0)) / ({whole} > 0)"


def mean(metric, labels=""):
    """The mean of a histogram."""
    return f"{rate(metric + '_sum', labels)} / {rate(metric + '_count', labels)}"


def quantile(share_below, metric, labels="", by=""):
    """A quantile of a histogram, for each value of some labels."""
    labelled = ", ".join(filter(None, ["le", by]))
    return f"histogram_quantile({share_below}, {rate(metric + '_bucket', labels, labelled)})"


def quantiles(metric, labels=""):
    """The three quantiles that tell how a latency is spread."""
    return [(quantile(q, metric, labels), name) for q, name in [(0.5, "p50"), (0.9, "p90"), (0.99, "p99")]]


# Panels. A query comes with its legend.


def panel(kind, title, unit, description, queries, width, height, defaults, options):
    targets = [
        {
            "datasource": SOURCE,
            "editorMode": "code",
            "expr": expression,
            "legendFormat": legend,
            "range": True,
            "refId": chr(ord("A") + number),
        }
        for number, (expression, legend) in enumerate(queries)
    ]
    return {
        "type": kind,
        "title": title,
        "description": description,
        "datasource": SOURCE,
        "fieldConfig": {"defaults": {"unit": unit, **defaults}, "overrides": []},
        "gridPos": {"h": height, "w": width},
        "options": options,
        "targets": targets,
    }


def graph(title, unit, description, *queries, width=8, stacked=False, most=None):
    """Lines over time. `most` is the end of the axis, where the scale has one."""
    custom = {
        "drawStyle": "line",
        "fillOpacity": 20 if stacked else 5,
        "lineWidth": 1,
        "showPoints": "never",
        "stacking": {"group": "A", "mode": "normal" if stacked else "none"},
    }
    defaults = {"color": {"mode": "palette-classic"}, "custom": custom, "min": 0}
    if most is not None:
        defaults["max"] = most
    options = {
        "legend": {"calcs": ["mean", "max"], "displayMode": "table", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    return panel("timeseries", title, unit, description, queries, width, GRAPH_HEIGHT, defaults, options)


def stat(title, unit, description, query, width=3, warn=None, alarm=None, words=None):
    """One number. It turns orange from `warn` on and red from `alarm` on; `words` are said in place of numbers."""
    steps = [{"color": "green" if warn is not None or alarm is not None else "text", "value": None}]
    steps += [{"color": color, "value": at} for color, at in [("orange", warn), ("red", alarm)] if at is not None]
    defaults = {"color": {"mode": "thresholds"}, "thresholds": {"mode": "absolute", "steps": steps}}
    if words:
        said = {str(number): {"color": color, "text": text} for number, (text, color) in words.items()}
        defaults["mappings"] = [{"type": "value", "options": said}]
    options = {
        "colorMode": "value",
        "graphMode": "none" if words else "area",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "textMode": "auto",
    }
    return panel("stat", title, unit, description, [(query, "")], width, STAT_HEIGHT, defaults, options)


# Dashboards.


def variable(name, label, query, **more):
    return {"name": name, "label": label, "query": query, **more}


def laid_out(rows):
    """Panels with their places: each row under its title, from left to right, breaking where it is full."""
    panels, y = [], 0
    for title, content in rows:
        place = {"h": 1, "w": COLUMNS, "x": 0, "y": y}
        panels.append({"type": "row", "title": title, "collapsed": False, "gridPos": place, "panels": []})
        x, y, line_height = 0, y + 1, 0
        for one in content:
            size = one["gridPos"]
            if x + size["w"] > COLUMNS:
                x, y, line_height = 0, y + line_height, 0
            panels.append({**one, "gridPos": {**size, "x": x, "y": y}})
            x, line_height = x + size["w"], max(line_height, size["h"])
        y += line_height
    return [{"id": number, **one} for number, one in enumerate(panels, start=1)]


def dashboard(uid, title, description, *rows):
    return {
        "uid": f"baton-{uid}",
        "title": f"Baton / {title}",
        "description": description,
        "tags": ["baton"],
        "editable": True,
        "graphTooltip": 1,
        "links": [
            {
                "type": "dashboards",
                "title": "Baton",
                "tags": ["baton"],
                "asDropdown": False,
                "includeVars": True,
                "keepTime": True,
            }
        ],
        "panels": laid_out(rows),
        "refresh": "15s",
        "schemaVersion": 39,
        "templating": {
            "list": [
                variable("datasource", "Data source", "prometheus", type="datasource"),
                variable(
                    "instance",
                    "Server",
                    {"query": "label_values(zeebe_health, instance)", "refId": "instance"},
                    type="query",
                    datasource=SOURCE,
                    includeAll=True,
                    multi=True,
                    refresh=2,
                    sort=1,
                    current={"selected": True, "text": ["All"], "value": ["$__all"]},
                ),
            ]
        },
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "",
    }


def main(arguments):
    from content import dashboards

    texts = {
        FOLDER / f"{one['uid'].removeprefix('baton-')}.json": json.dumps(one, indent=2, ensure_ascii=False) + "\n"
        for one in dashboards()
    }
    there = set(FOLDER.glob("*.json"))
    if arguments == ["--check"]:
        wrong = [path for path, text in texts.items() if path not in there or path.read_text("utf-8") != text]
        wrong += there - texts.keys()
        for path in sorted(wrong):
            print(f"{path.name} is not what generate.py writes", file=sys.stderr)
        return 1 if wrong else 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    FOLDER.mkdir(exist_ok=True)
    for path in there - texts.keys():
        path.unlink()
    for path, text in texts.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(sys.argv[1:]))
