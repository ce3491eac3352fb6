BEGIN;
CREATE TABLE ships (
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
INSERT INTO ships VALUES (1, 'Amber Tern', 2015, 1720);
INSERT INTO ships VALUES (2, 'Bold Petrel', 1985, 1010);
INSERT INTO ships VALUES (3, 'Calm Curlew', 2017, 1280);
INSERT INTO ships VALUES (4, 'Daybreak', 1980, 180);
INSERT INTO ships VALUES (5, 'Eider', 1998, 1810);
INSERT INTO ships VALUES (6, 'Fulmar', 1980, 760);
INSERT INTO ships VALUES (7, 'Grey Heron', 2002, 150);
INSERT INTO ships VALUES (8, 'Halcyon', 2004, 1730);
INSERT INTO ships VALUES (9, 'Isle Maid', 2003, 1130);
INSERT INTO ships VALUES (10, 'Jetty Rose', 2014, 380);
INSERT INTO ships VALUES (11, 'Kittiwake', 1996, 1680);
INSERT INTO ships VALUES (12, 'Lapwing', 2006, 660);
INSERT INTO routes VALUES (1, 'Aldwick', 'Brae', 51.5);
INSERT INTO routes VALUES (2, 'Dunmouth', 'Aldwick', 83.5);
INSERT INTO routes VALUES (3, 'Aldwick', 'Elsay', 73.5);
INSERT INTO routes VALUES (4, 'Elsay', 'Corrie', 86.25);
INSERT INTO routes VALUES (5, 'Aldwick', 'Corrie', 82.25);
INSERT INTO routes VALUES (6, 'Aldwick', 'Dunmouth', 58.5);
INSERT INTO routes VALUES (7, 'Elsay', 'Aldwick', 77.0);
INSERT INTO routes VALUES (8, 'Corrie', 'Dunmouth', 38.5);
INSERT INTO routes VALUES (9, 'Brae', 'Elsay', 18.75);
INSERT INTO routes VALUES (10, 'Elsay', 'Dunmouth', 74.0);
INSERT INTO routes VALUES (11, 'Dunmouth', 'Brae', 9.25);
INSERT INTO routes VALUES (12, 'Dunmouth', 'Elsay', 71.75);
INSERT INTO sailings VALUES (1, 1, 5, '2024-06-01', 499, 0);
INSERT INTO sailings VALUES (2, 10, 8, '2024-06-02', 477, 25);
INSERT INTO sailings VALUES (3, 6, 1, '2024-06-04', 587, NULL);
INSERT INTO sailings VALUES (4, 2, 11, '2024-06-03', 536, 25);
INSERT INTO sailings VALUES (5, 9, 9, '2024-06-03', 243, 0);
INSERT INTO sailings VALUES (6, 2, 10, '2024-06-04', 387, 0);
INSERT INTO sailings VALUES (7, 1, 3, '2024-06-01', 116, 25);
INSERT INTO sailings VALUES (8, 10, 2, '2024-06-02', 220, 15);
INSERT INTO sailings VALUES (9, 2, 1, '2024-06-02', 352, 40);
INSERT INTO sailings VALUES (10, 1, 5, '2024-06-02', 179, 0);
INSERT INTO sailings VALUES (11, 1, 8, '2024-06-03', 382, NULL);
INSERT INTO sailings VALUES (12, 9, 12, '2024-06-01', 447, 15);
INSERT INTO sailings VALUES (13, 9, 3, '2024-06-03', 221, NULL);
INSERT INTO sailings VALUES (14, 10, 2, '2024-06-05', 205, NULL);
INSERT INTO sailings VALUES (15, 7, 4, '2024-06-03', 95, 5);
INSERT INTO sailings VALUES (16, 4, 12, '2024-06-02', 583, 15);
INSERT INTO sailings VALUES (17, 2, 6, '2024-06-05', 300, 0);
INSERT INTO sailings VALUES (18, 10, 8, '2024-06-03', 51, 25);
INSERT INTO sailings VALUES (19, 5, 5, '2024-06-03', 184, 40);
INSERT INTO sailings VALUES (20, 9, 9, '2024-06-01', 410, 0);
COMMIT;
