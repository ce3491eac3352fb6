BEGIN;
CREATE TABLE members (
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
INSERT INTO members VALUES (1, 'Ana Brandt', 'Jarrow', 2014);
INSERT INTO members VALUES (2, 'Bo Lind', 'Jarrow', 2018);
INSERT INTO members VALUES (3, 'Carys Pugh', 'Jarrow', 2018);
INSERT INTO members VALUES (4, 'Dag Holt', 'Iddle', 2017);
INSERT INTO members VALUES (5, 'Esi Owusu', 'Kell', 2019);
INSERT INTO members VALUES (6, 'Finn Marr', 'Iddle', 2015);
INSERT INTO members VALUES (7, 'Gita Rao', 'Holm', 2018);
INSERT INTO members VALUES (8, 'Hal Orne', 'Iddle', 2020);
INSERT INTO members VALUES (9, 'Ines Vaz', 'Jarrow', 2022);
INSERT INTO members VALUES (10, 'Jon Tveit', 'Holm', 2023);
INSERT INTO members VALUES (11, 'Kaia Moe', 'Holm', 2016);
INSERT INTO members VALUES (12, 'Lev Stern', 'Kell', 2011);
INSERT INTO varieties VALUES (1, 'Moonrise', 'bean', 74);
INSERT INTO varieties VALUES (2, 'Red Lantern', 'squash', 113);
INSERT INTO varieties VALUES (3, 'Climbing Anna', 'tomato', 78);
INSERT INTO varieties VALUES (4, 'Butter Boat', 'bean', 97);
INSERT INTO varieties VALUES (5, 'Old Fence', 'squash', 108);
INSERT INTO varieties VALUES (6, 'Winter Drum', 'tomato', 84);
INSERT INTO varieties VALUES (7, 'Little Bell', 'bean', 73);
INSERT INTO varieties VALUES (8, 'Copper King', 'squash', 46);
INSERT INTO varieties VALUES (9, 'Long Sunday', 'tomato', 53);
INSERT INTO varieties VALUES (10, 'Stone Path', 'bean', 107);
INSERT INTO varieties VALUES (11, 'Blue Apron', 'squash', 49);
INSERT INTO varieties VALUES (12, 'Early Ida', 'tomato', 90);
INSERT INTO varieties VALUES (13, 'Giant Paul', 'bean', 100);
INSERT INTO varieties VALUES (14, 'Quick Silver', 'squash', 81);
INSERT INTO loans VALUES (1, 1, 1, '2024-06-21', 8, NULL);
INSERT INTO loans VALUES (2, 1, 2, '2024-06-14', 1, 2);
INSERT INTO loans VALUES (3, 1, 3, '2024-05-20', 7, 8);
INSERT INTO loans VALUES (4, 5, 12, '2024-03-16', 6, NULL);
INSERT INTO loans VALUES (5, 2, 10, '2024-03-16', 2, 4);
INSERT INTO loans VALUES (6, 7, 3, '2024-05-17', 4, 4);
INSERT INTO loans VALUES (7, 8, 3, '2024-05-11', 6, 7);
INSERT INTO loans VALUES (8, 10, 8, '2024-04-22', 2, NULL);
INSERT INTO loans VALUES (9, 4, 3, '2024-06-24', 8, NULL);
INSERT INTO loans VALUES (10, 7, 10, '2024-05-05', 7, 10);
INSERT INTO loans VALUES (11, 5, 2, '2024-05-16', 6, NULL);
INSERT INTO loans VALUES (12, 8, 8, '2024-04-06', 3, 1);
INSERT INTO loans VALUES (13, 11, 3, '2024-04-25', 8, 9);
INSERT INTO loans VALUES (14, 10, 6, '2024-05-24', 1, 0);
INSERT INTO loans VALUES (15, 4, 1, '2024-04-28', 1, 1);
INSERT INTO loans VALUES (16, 2, 8, '2024-05-02', 5, 4);
INSERT INTO loans VALUES (17, 2, 12, '2024-06-23', 7, 5);
INSERT INTO loans VALUES (18, 12, 1, '2024-04-02', 4, 6);
INSERT INTO loans VALUES (19, 10, 4, '2024-06-24', 4, 3);
INSERT INTO loans VALUES (20, 5, 7, '2024-05-14', 3, 4);
COMMIT;
