BEGIN;
CREATE TABLE hosts (
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
INSERT INTO hosts VALUES (1, 'Mara Finch', 2017);
INSERT INTO hosts VALUES (2, 'Ola Berg', 2000);
INSERT INTO hosts VALUES (3, 'Priya Nair', 2005);
INSERT INTO hosts VALUES (4, 'Quentin Lowe', 2004);
INSERT INTO hosts VALUES (5, 'Rosa Dahl', 2014);
INSERT INTO hosts VALUES (6, 'Sol Amadi', 2014);
INSERT INTO hosts VALUES (7, 'Tess Kerr', 2004);
INSERT INTO hosts VALUES (8, 'Ugo Conti', 2006);
INSERT INTO hosts VALUES (9, 'Vera Blom', 2020);
INSERT INTO hosts VALUES (10, 'Wim Aerts', 2002);
INSERT INTO shows VALUES (1, 'Night Mail', 6, 'talk', 45);
INSERT INTO shows VALUES (2, 'Blue Corner', 8, 'folk', 45);
INSERT INTO shows VALUES (3, 'Open Gate', 4, 'jazz', 30);
INSERT INTO shows VALUES (4, 'Slow Train', 1, 'talk', 90);
INSERT INTO shows VALUES (5, 'Tin Roof', 2, 'folk', 90);
INSERT INTO shows VALUES (6, 'Second Cup', 4, 'jazz', 60);
INSERT INTO shows VALUES (7, 'The Long Reel', 6, 'talk', 30);
INSERT INTO shows VALUES (8, 'Harbour Wall', 8, 'folk', 90);
INSERT INTO shows VALUES (9, 'Paper Moon', 6, 'jazz', 30);
INSERT INTO shows VALUES (10, 'Kitchen Table', 8, 'talk', 60);
INSERT INTO shows VALUES (11, 'Field Notes', 8, 'folk', 60);
INSERT INTO shows VALUES (12, 'Late Bus', 7, 'jazz', 90);
INSERT INTO broadcasts VALUES (1, 8, '2024-03-03', 658, 1);
INSERT INTO broadcasts VALUES (2, 6, '2024-01-14', 350, 0);
INSERT INTO broadcasts VALUES (3, 3, '2024-03-25', 3994, 0);
INSERT INTO broadcasts VALUES (4, 6, '2024-03-13', 4480, 0);
INSERT INTO broadcasts VALUES (5, 3, '2024-01-01', 5738, 1);
INSERT INTO broadcasts VALUES (6, 1, '2024-03-15', 4892, 1);
INSERT INTO broadcasts VALUES (7, 3, '2024-01-11', 4488, 0);
INSERT INTO broadcasts VALUES (8, 12, '2024-01-02', 3227, 1);
INSERT INTO broadcasts VALUES (9, 3, '2024-03-24', 3467, 0);
INSERT INTO broadcasts VALUES (10, 3, '2024-01-23', 1151, 1);
INSERT INTO broadcasts VALUES (11, 6, '2024-02-26', 2678, 0);
INSERT INTO broadcasts VALUES (12, 4, '2024-02-21', 3877, 0);
INSERT INTO broadcasts VALUES (13, 2, '2024-03-04', 5520, 0);
INSERT INTO broadcasts VALUES (14, 10, '2024-03-16', 5558, 0);
INSERT INTO broadcasts VALUES (15, 9, '2024-02-13', 5181, 0);
INSERT INTO broadcasts VALUES (16, 11, '2024-02-08', 4868, 0);
INSERT INTO broadcasts VALUES (17, 7, '2024-03-22', 3481, 0);
INSERT INTO broadcasts VALUES (18, 12, '2024-02-11', 1209, 1);
INSERT INTO broadcasts VALUES (19, 7, '2024-01-08', 4572, 1);
INSERT INTO broadcasts VALUES (20, 9, '2024-03-21', 2447, 0);
COMMIT;
