"""Writes the bundled text-to-SQL set, tasks/bird_small: `python tasks/make_bird.py`.

Three databases as SQL text and sixty questions in BIRD's columns. Deterministic (seeded, no network): the same bytes
everywhere. Names, rows, questions and statements are ours. A test regenerates the files, runs every gold statement and
checks it for doubtful ones.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from pathlib import Path

SPLITS = {"train": range(6), "val": range(6, 10), "test": range(10, 20)}  # of each database's twenty questions

SCHEMAS = {
    "ferry_lines": """CREATE TABLE ships (
    ship_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    built INTEGER NOT NULL,
    seats INTEGER NOT NULL
);
CREATE TABLE routes (
    route_id INTEGER PRIMARY KEY,
    from_port TEXT NOT NULL,
    to_port TEXT NOT NULL,
    km REAL NOT NULL
);
CREATE TABLE sailings (
    sailing_id INTEGER PRIMARY KEY,
    ship_id INTEGER NOT NULL REFERENCES ships (ship_id),
    route_id INTEGER NOT NULL REFERENCES routes (route_id),
    day TEXT NOT NULL,
    passengers INTEGER NOT NULL,
    delay INTEGER
);
""",
    "seed_library": """CREATE TABLE members (
    member_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    town TEXT NOT NULL,
    joined INTEGER NOT NULL
);
CREATE TABLE varieties (
    variety_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    days INTEGER NOT NULL
);
CREATE TABLE loans (
    loan_id INTEGER PRIMARY KEY,
    member_id INTEGER NOT NULL REFERENCES members (member_id),
    variety_id INTEGER NOT NULL REFERENCES varieties (variety_id),
    lent_on TEXT NOT NULL,
    packets INTEGER NOT NULL,
    returned INTEGER
);
""",
    "radio_station": """CREATE TABLE hosts (
    host_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    since INTEGER NOT NULL
);
CREATE TABLE shows (
    show_id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    host_id INTEGER NOT NULL REFERENCES hosts (host_id),
    genre TEXT NOT NULL,
    minutes INTEGER NOT NULL
);
CREATE TABLE broadcasts (
    broadcast_id INTEGER PRIMARY KEY,
    show_id INTEGER NOT NULL REFERENCES shows (show_id),
    aired_on TEXT NOT NULL,
    listeners INTEGER NOT NULL,
    rerun INTEGER NOT NULL
);
""",
}

# database -> (difficulty, case, question, evidence, statement). Cases: "", empty, duplicates, with, ordered.
QUESTIONS: dict[str, list[tuple[str, str, str, str, str]]] = {
    "ferry_lines": [
        ("simple", "", "How many ships are there?", "", "SELECT COUNT(*) FROM ships"),
        ("simple", "", "Which ships were built before 1990?", "", "SELECT name FROM ships WHERE built < 1990"),
        ("simple", "", "What is the length in kilometres of the longest route?", "", "SELECT MAX(km) FROM routes"),
        ("moderate", "", "How many sailings did each ship make? Give its name and the number.", "",
         "SELECT s.name, COUNT(*) FROM ships AS s JOIN sailings AS t ON t.ship_id = s.ship_id GROUP BY s.ship_id"),
        ("simple", "duplicates", "Give the starting port of every route, once for each route.", "",
         "SELECT from_port FROM routes"),
        ("challenging", "with", "Which ships carried more passengers in all than the mean over ships that sailed?", "",
         "WITH totals AS (SELECT ship_id, SUM(passengers) AS n FROM sailings GROUP BY ship_id) "
         "SELECT s.name FROM totals AS t JOIN ships AS s ON s.ship_id = t.ship_id "
         "WHERE t.n > (SELECT AVG(n) FROM totals)"),
        ("simple", "", "How many sailings were cancelled?", "a cancelled sailing has no delay",
         "SELECT COUNT(*) FROM sailings WHERE delay IS NULL"),
        ("simple", "empty", "Which ships have more than 5000 seats?", "", "SELECT name FROM ships WHERE seats > 5000"),
        ("moderate", "ordered", "List the ships from the newest to the oldest; of the same year, by name.", "",
         "SELECT name FROM ships ORDER BY built DESC, name"),
        ("moderate", "", "How many passengers left from Aldwick in all?", "Aldwick is a starting port",
         "SELECT SUM(t.passengers) FROM sailings AS t JOIN routes AS r ON r.route_id = t.route_id "
         "WHERE r.from_port = 'Aldwick'"),
        ("simple", "", "What is the name of the ship with id 3?", "", "SELECT name FROM ships WHERE ship_id = 3"),
        ("simple", "ordered", "Give the three largest ships by seats, the largest first.", "",
         "SELECT name FROM ships ORDER BY seats DESC LIMIT 3"),
        ("simple", "empty", "Which routes start and end in the same port?", "",
         "SELECT route_id FROM routes WHERE from_port = to_port"),
        ("moderate", "duplicates", "For every sailing that was more than 20 minutes late, give the name of its ship.",
         "delay is in minutes",
         "SELECT s.name FROM sailings AS t JOIN ships AS s ON s.ship_id = t.ship_id WHERE t.delay > 20"),
        ("moderate", "", "Which ships never sailed?", "",
         "SELECT name FROM ships WHERE ship_id NOT IN (SELECT ship_id FROM sailings)"),
        ("challenging", "with", "How many passengers had the busiest day of each port of departure?",
         "the busiest day is the one with the most passengers over all sailings from the port",
         "WITH daily AS (SELECT r.from_port AS port, t.day AS day, SUM(t.passengers) AS n FROM sailings AS t "
         "JOIN routes AS r ON r.route_id = t.route_id GROUP BY r.from_port, t.day) "
         "SELECT port, MAX(n) FROM daily GROUP BY port"),
        ("moderate", "", "What share of the sailings that took place were on time?",
         "on time: a delay of 0; a cancelled sailing has no delay",
         "SELECT CAST(SUM(delay = 0) AS REAL) / COUNT(delay) FROM sailings"),
        ("challenging", "", "Which pairs of ports are served in both directions? Each pair once, in alphabetical order.",
         "", "SELECT a.from_port, a.to_port FROM routes AS a JOIN routes AS b ON a.from_port = b.to_port "
         "AND a.to_port = b.from_port WHERE a.from_port < a.to_port"),
        ("moderate", "ordered", "List each port of departure and the sum of its kilometres, longest first; equal ones by port.",
         "", "SELECT from_port, SUM(km) FROM routes GROUP BY from_port ORDER BY SUM(km) DESC, from_port"),
        ("simple", "", "On which days was there a sailing with ship 2?", "",
         "SELECT DISTINCT day FROM sailings WHERE ship_id = 2"),
    ],
    "seed_library": [
        ("simple", "", "How many members live in Holm?", "", "SELECT COUNT(*) FROM members WHERE town = 'Holm'"),
        ("simple", "", "Which varieties are beans?", "", "SELECT name FROM varieties WHERE kind = 'bean'"),
        ("simple", "ordered", "Name the varieties of squash from the quickest to the slowest; equal ones by name.",
         "days counts from sowing to harvest",
         "SELECT name FROM varieties WHERE kind = 'squash' ORDER BY days, name"),
        ("moderate", "", "How many packets of each kind were lent?", "",
         "SELECT v.kind, SUM(l.packets) FROM loans AS l JOIN varieties AS v ON v.variety_id = l.variety_id GROUP BY v.kind"),
        ("moderate", "empty", "Which members borrowed more than 50 packets at once?", "",
         "SELECT DISTINCT m.name FROM members AS m JOIN loans AS l ON l.member_id = m.member_id WHERE l.packets > 50"),
        ("challenging", "with", "Which members brought back more than they took, over the loans they have closed?",
         "a loan is closed when returned is not null",
         "WITH closed AS (SELECT member_id, SUM(packets) AS took, SUM(returned) AS gave FROM loans "
         "WHERE returned IS NOT NULL GROUP BY member_id) "
         "SELECT m.name FROM closed AS c JOIN members AS m ON m.member_id = c.member_id WHERE c.gave > c.took"),
        ("simple", "duplicates", "Give the town of every member, once a member.", "", "SELECT town FROM members"),
        ("simple", "", "In which year did the first member join?", "", "SELECT MIN(joined) FROM members"),
        ("moderate", "", "Which varieties were never lent?", "",
         "SELECT name FROM varieties WHERE variety_id NOT IN (SELECT variety_id FROM loans)"),
        ("moderate", "ordered", "List the towns by number of members, most first; equal ones in alphabetical order.", "",
         "SELECT town FROM members GROUP BY town ORDER BY COUNT(*) DESC, town"),
        ("simple", "", "How many loans are still open?", "a loan is open while returned is null",
         "SELECT COUNT(*) FROM loans WHERE returned IS NULL"),
        ("simple", "", "What kind is the variety Moonrise?", "", "SELECT kind FROM varieties WHERE name = 'Moonrise'"),
        ("simple", "empty", "Which members joined after 2030?", "", "SELECT name FROM members WHERE joined > 2030"),
        ("simple", "ordered", "Name the two slowest varieties, the slowest first.", "days counts from sowing to harvest",
         "SELECT name FROM varieties ORDER BY days DESC LIMIT 2"),
        ("moderate", "duplicates", "For each loan of a tomato, give the name of the member.", "",
         "SELECT m.name FROM loans AS l JOIN members AS m ON m.member_id = l.member_id "
         "JOIN varieties AS v ON v.variety_id = l.variety_id WHERE v.kind = 'tomato'"),
        ("moderate", "", "How many packets did each town borrow in all?", "",
         "SELECT m.town, SUM(l.packets) FROM loans AS l JOIN members AS m ON m.member_id = l.member_id GROUP BY m.town"),
        ("moderate", "", "What is the mean number of days to harvest of the varieties that were lent?",
         "each variety counts once",
         "SELECT AVG(days) FROM varieties WHERE variety_id IN (SELECT variety_id FROM loans)"),
        ("challenging", "with", "For each kind, how many different members borrowed it?", "",
         "WITH pairs AS (SELECT DISTINCT v.kind AS kind, l.member_id AS member FROM loans AS l "
         "JOIN varieties AS v ON v.variety_id = l.variety_id) SELECT kind, COUNT(*) FROM pairs GROUP BY kind"),
        ("challenging", "", "Which members borrowed every kind that the library has?", "",
         "SELECT m.name FROM members AS m JOIN loans AS l ON l.member_id = m.member_id "
         "JOIN varieties AS v ON v.variety_id = l.variety_id GROUP BY m.member_id "
         "HAVING COUNT(DISTINCT v.kind) = (SELECT COUNT(DISTINCT kind) FROM varieties)"),
        ("simple", "", "How many loans were made in May 2024?", "lent_on is written year-month-day",
         "SELECT COUNT(*) FROM loans WHERE lent_on LIKE '2024-05-%'"),
    ],
    "radio_station": [
        ("simple", "", "How many shows are there of each genre?", "", "SELECT genre, COUNT(*) FROM shows GROUP BY genre"),
        ("simple", "", "Who hosts the show Night Mail?", "",
         "SELECT h.name FROM hosts AS h JOIN shows AS s ON s.host_id = h.host_id WHERE s.title = 'Night Mail'"),
        ("simple", "empty", "Which shows last longer than three hours?", "minutes is the length of a show",
         "SELECT title FROM shows WHERE minutes > 180"),
        ("moderate", "ordered", "List the titles of the talk shows by length, the longest first; equal ones by title.", "",
         "SELECT title FROM shows WHERE genre = 'talk' ORDER BY minutes DESC, title"),
        ("moderate", "", "How many listeners had each show in all, reruns left out?", "rerun is 1 for a rerun",
         "SELECT s.title, SUM(b.listeners) FROM broadcasts AS b JOIN shows AS s ON s.show_id = b.show_id "
         "WHERE b.rerun = 0 GROUP BY s.show_id"),
        ("challenging", "with", "Which shows had fewer listeners in their worst broadcast than the mean of all broadcasts?", "",
         "WITH worst AS (SELECT show_id, MIN(listeners) AS n FROM broadcasts GROUP BY show_id) "
         "SELECT s.title FROM worst AS w JOIN shows AS s ON s.show_id = w.show_id "
         "WHERE w.n < (SELECT AVG(listeners) FROM broadcasts)"),
        ("simple", "duplicates", "Give the genre of every show, once a show.", "", "SELECT genre FROM shows"),
        ("simple", "", "How many broadcasts were reruns?", "rerun is 1 for a rerun",
         "SELECT COUNT(*) FROM broadcasts WHERE rerun = 1"),
        ("moderate", "", "Which hosts have more than one show?", "",
         "SELECT h.name FROM hosts AS h JOIN shows AS s ON s.host_id = h.host_id GROUP BY h.host_id HAVING COUNT(*) > 1"),
        ("moderate", "ordered", "List the days with a broadcast of jazz, the latest first, each once.", "",
         "SELECT DISTINCT b.aired_on FROM broadcasts AS b JOIN shows AS s ON s.show_id = b.show_id "
         "WHERE s.genre = 'jazz' ORDER BY b.aired_on DESC"),
        ("simple", "", "What is the most listeners a broadcast ever had?", "", "SELECT MAX(listeners) FROM broadcasts"),
        ("simple", "ordered", "Name the hosts in the order in which they started; the same year by name.",
         "since is the year in which a host started", "SELECT name FROM hosts ORDER BY since, name"),
        ("simple", "empty", "Which hosts started before 1950?", "since is the year in which a host started",
         "SELECT name FROM hosts WHERE since < 1950"),
        ("moderate", "duplicates", "For each broadcast with more than 4000 listeners, give the title of the show.", "",
         "SELECT s.title FROM broadcasts AS b JOIN shows AS s ON s.show_id = b.show_id WHERE b.listeners > 4000"),
        ("moderate", "", "Which hosts have no show?", "",
         "SELECT name FROM hosts WHERE host_id NOT IN (SELECT host_id FROM shows)"),
        ("moderate", "", "How many minutes were aired of each genre?", "minutes is the length of one broadcast of a show",
         "SELECT s.genre, SUM(s.minutes) FROM broadcasts AS b JOIN shows AS s ON s.show_id = b.show_id GROUP BY s.genre"),
        ("challenging", "with", "Which host reached the most listeners in all?", "",
         "WITH reach AS (SELECT s.host_id AS host, SUM(b.listeners) AS n FROM broadcasts AS b "
         "JOIN shows AS s ON s.show_id = b.show_id GROUP BY s.host_id) "
         "SELECT h.name FROM reach AS r JOIN hosts AS h ON h.host_id = r.host WHERE r.n = (SELECT MAX(n) FROM reach)"),
        ("challenging", "", "By how many listeners did the mean of first broadcasts exceed the mean of reruns?",
         "rerun is 1 for a rerun and 0 for a first broadcast",
         "SELECT AVG(CASE WHEN rerun = 0 THEN listeners END) - AVG(CASE WHEN rerun = 1 THEN listeners END) FROM broadcasts"),
        ("moderate", "", "How long is the mean show of the hosts who started after 2010?",
         "since is the year in which a host started",
         "SELECT AVG(s.minutes) FROM shows AS s JOIN hosts AS h ON h.host_id = s.host_id WHERE h.since > 2010"),
        ("simple", "", "On how many different days was something aired?", "",
         "SELECT COUNT(DISTINCT aired_on) FROM broadcasts"),
    ],
}  # fmt: skip

SHIPS = ("Amber Tern", "Bold Petrel", "Calm Curlew", "Daybreak", "Eider", "Fulmar", "Grey Heron", "Halcyon", "Isle Maid",
         "Jetty Rose", "Kittiwake", "Lapwing")  # fmt: skip
PORTS = ("Aldwick", "Brae", "Corrie", "Dunmouth", "Elsay")
GARDENERS = ("Ana Brandt", "Bo Lind", "Carys Pugh", "Dag Holt", "Esi Owusu", "Finn Marr", "Gita Rao", "Hal Orne",
             "Ines Vaz", "Jon Tveit", "Kaia Moe", "Lev Stern")  # fmt: skip
VARIETIES = ("Moonrise", "Red Lantern", "Climbing Anna", "Butter Boat", "Old Fence", "Winter Drum", "Little Bell",
             "Copper King", "Long Sunday", "Stone Path", "Blue Apron", "Early Ida", "Giant Paul", "Quick Silver")  # fmt: skip
HOSTS = ("Mara Finch", "Ola Berg", "Priya Nair", "Quentin Lowe", "Rosa Dahl", "Sol Amadi", "Tess Kerr", "Ugo Conti",
         "Vera Blom", "Wim Aerts")  # fmt: skip
SHOWS = ("Night Mail", "Blue Corner", "Open Gate", "Slow Train", "Tin Roof", "Second Cup", "The Long Reel", "Harbour Wall",
         "Paper Moon", "Kitchen Table", "Field Notes", "Late Bus")  # fmt: skip

Table = list[tuple[object, ...]]


def ferry_lines(rng: random.Random) -> dict[str, Table]:
    """Ships, routes and sailings; two ships never sail, a few sailings are cancelled."""
    seats = rng.sample(range(120, 1900, 10), len(SHIPS))
    ships: Table = [(i, name, rng.randrange(1978, 2020), seats[i - 1]) for i, name in enumerate(SHIPS, 1)]
    pairs = [(a, b) for a in PORTS for b in PORTS if a != b]
    routes: Table = [(i, a, b, rng.randrange(16, 360) / 4) for i, (a, b) in enumerate(rng.sample(pairs, 12), 1)]
    sailings: Table = [
        (i, rng.randrange(1, 11), rng.randrange(1, 13), f"2024-06-{rng.randrange(1, 6):02d}", rng.randrange(20, 600),
         rng.choice((None, 0, 0, 5, 15, 25, 40)))
        for i in range(1, 21)
    ]  # fmt: skip
    return {"ships": ships, "routes": routes, "sailings": sailings}


def seed_library(rng: random.Random) -> dict[str, Table]:
    """Members, varieties and loans; two varieties are never lent, some loans are open; member 1 borrows every kind."""
    towns, kinds = ("Holm", "Iddle", "Jarrow", "Kell"), ("tomato", "bean", "squash")
    members: Table = [(i, name, rng.choice(towns), rng.randrange(2009, 2024)) for i, name in enumerate(GARDENERS, 1)]
    days = rng.sample(range(45, 140), len(VARIETIES))
    varieties: Table = [(i, name, kinds[i % 3], days[i - 1]) for i, name in enumerate(VARIETIES, 1)]
    loans: Table = []
    for i in range(1, 21):
        packets, open_ = rng.randrange(1, 9), rng.random() < 0.25
        member, variety = (1, i) if i <= 3 else (rng.randrange(1, 13), rng.randrange(1, 13))
        returned = None if open_ else max(0, packets + rng.randrange(-3, 4))
        loans.append(
            (i, member, variety, f"2024-{rng.randrange(3, 7):02d}-{rng.randrange(1, 29):02d}", packets, returned)
        )
    return {"members": members, "varieties": varieties, "loans": loans}


def radio_station(rng: random.Random) -> dict[str, Table]:
    """Hosts, shows and broadcasts; two hosts have no show."""
    hosts: Table = [(i, name, rng.randrange(1995, 2022)) for i, name in enumerate(HOSTS, 1)]
    genres = ("jazz", "talk", "folk")
    shows: Table = [
        (i, title, rng.randrange(1, 9), genres[i % 3], rng.choice((30, 45, 60, 90))) for i, title in enumerate(SHOWS, 1)
    ]
    broadcasts: Table = [
        (i, rng.randrange(1, 13), f"2024-0{rng.randrange(1, 4)}-{rng.randrange(1, 29):02d}", rng.randrange(300, 6000),
         int(rng.random() < 0.3))
        for i in range(1, 21)
    ]  # fmt: skip
    return {"hosts": hosts, "shows": shows, "broadcasts": broadcasts}


MAKERS = {"ferry_lines": ferry_lines, "seed_library": seed_library, "radio_station": radio_station}


def database(name: str) -> str:
    """The SQL text that builds a database."""
    tables = MAKERS[name](random.Random(f"bird_small/{name}"))
    inserts = [
        f"INSERT INTO {table} VALUES ({', '.join(map(_literal, row))});"
        for table, rows in tables.items()
        for row in rows
    ]
    return f"BEGIN;\n{SCHEMAS[name]}" + "\n".join(inserts) + "\nCOMMIT;\n"


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def questions(split: str) -> list[dict[str, object]]:
    """The rows of a split, in BIRD's columns and our `case`."""
    rows = []
    for number, (name, i) in enumerate((name, i) for name in QUESTIONS for i in range(20)):
        if i in SPLITS[split]:
            difficulty, case, question, evidence, sql = QUESTIONS[name][i]
            rows.append({"question_id": number, "db_id": name, "question": question, "evidence": evidence, "SQL": sql,
                         "difficulty": difficulty, "case": case})  # fmt: skip
    return rows


CARD = """# bird_small

Sixty questions over three small databases (a ferry company, a seed library, a radio station), with gold statements.

| file | rows |
| --- | --- |
{table}
| databases/*.sql | 3 databases of 3 tables, 10 to 20 rows each |

Columns are those of BIRD and StreamBench: `db_id`, `question`, `evidence`, `SQL`, `question_id`, `difficulty`; `case` is
ours and marks what a statement is there for: {cases}.
Every gold statement runs, and none hangs on an order it does not state. Names, rows, questions and statements are ours,
made up by `tasks/make_bird.py` from fixed seeds; no row of BIRD is in here. The databases are built from their SQL text
when they are first needed.

Use: trying the harness out and its tests. It is no stand-in for the real set, whose databases are large and untidy.
Figures from it never stand beside published ones.

Made again by `python tasks/make_bird.py`; digests in `SHA256SUMS`. Licence: that of ace-bench (Apache-2.0).
"""


def files() -> dict[str, bytes]:
    """Relative path -> bytes of every file this script writes."""
    rows = {split: questions(split) for split in SPLITS}
    texts = {f"{split}.jsonl": "".join(json.dumps(row) + "\n" for row in some) for split, some in rows.items()}
    texts |= {f"databases/{name}.sql": database(name) for name in MAKERS}
    counts = {case: sum(row["case"] == case for some in rows.values() for row in some)
              for case in ("empty", "duplicates", "with", "ordered")}  # fmt: skip
    table = "\n".join(f"| {split}.jsonl | {len(some)} |" for split, some in rows.items())
    cases = ", ".join(f"`{case}` ({n})" for case, n in counts.items())
    texts["README.md"] = CARD.format(table=table, cases=cases)
    data = {name: text.encode() for name, text in texts.items()}
    sums = "".join(f"{hashlib.sha256(body).hexdigest()}  {name}\n" for name, body in sorted(data.items()))
    return {f"bird_small/{name}": body for name, body in {**data, "SHA256SUMS": sums.encode()}.items()}


def main(folder: Path) -> None:
    """Write every file below `folder`."""
    for path, body in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(body)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
