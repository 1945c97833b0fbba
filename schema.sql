-- ForgetMeNot's memory: the truth about the newest schema (its version is in store/database.py).
-- Times are INTEGER milliseconds since the epoch, UTC. Twitch's ids are TEXT. Texts that stay name people as <@id>.

-- ── people ──────────────────────────────────────────────────────────────────────────────────
-- A person is an id. `login:alice` is a provisional id, joined to the real one when that login first speaks.
CREATE TABLE viewers (
    id            TEXT PRIMARY KEY,
    login         TEXT,                              -- NULL once somebody else holds that login
    display_name  TEXT,
    color         TEXT NOT NULL DEFAULT '',          -- of their name in chat, as #rrggbb; '' if they chose none
    role          TEXT NOT NULL DEFAULT 'viewer',    -- from the badges of their last message
    first_seen_at INTEGER NOT NULL,
    last_seen_at  INTEGER NOT NULL,
    opted_out_at  INTEGER,                           -- set: nothing they say is stored
    banned_at     INTEGER,                           -- set: hidden, erased after seven days
    erase_at      INTEGER,                           -- set: their erasure was asked for and is not finished
    called        TEXT NOT NULL DEFAULT '',          -- the name that they asked to be called …
    say_as        TEXT NOT NULL DEFAULT '',          -- … how it is said aloud …
    pronouns      TEXT NOT NULL DEFAULT '',          -- … and their pronouns, in their own words
    called_at     INTEGER,                           -- when one of these three was changed last
    sub_months    INTEGER NOT NULL DEFAULT 0,        -- subscribed in all, by their badge; 0: not subscribed
    sub_months_at INTEGER NOT NULL DEFAULT 0,        -- when that number was seen to grow; 0: never
    watch_streak  INTEGER NOT NULL DEFAULT 0,        -- the last one that Twitch announced, in streams …
    watch_streak_at INTEGER NOT NULL DEFAULT 0,      -- … and when; 0: never
    moderator_since INTEGER,                         -- since when a moderator's badge is seen on them
    congratulated_at INTEGER NOT NULL DEFAULT 0      -- when a model was last told to congratulate them
) STRICT;
CREATE INDEX viewers_called ON viewers (called_at) WHERE called_at IS NOT NULL;
CREATE INDEX viewers_by_called ON viewers (lower(called)) WHERE called <> '';
CREATE UNIQUE INDEX viewers_by_login ON viewers (login) WHERE login IS NOT NULL;
CREATE INDEX viewers_opted_out ON viewers (id) WHERE opted_out_at IS NOT NULL;
CREATE INDEX viewers_banned    ON viewers (banned_at) WHERE banned_at IS NOT NULL;
CREATE INDEX viewers_to_erase  ON viewers (erase_at) WHERE erase_at IS NOT NULL;
-- Who is not hidden: neither opted out nor banned.
CREATE VIEW shown AS SELECT * FROM viewers WHERE opted_out_at IS NULL AND banned_at IS NULL;

CREATE TABLE viewer_names (
    viewer_id     TEXT NOT NULL REFERENCES viewers (id) ON DELETE CASCADE ON UPDATE CASCADE,
    login         TEXT NOT NULL,
    display_name  TEXT NOT NULL,
    first_seen_at INTEGER NOT NULL,
    last_seen_at  INTEGER NOT NULL,
    PRIMARY KEY (viewer_id, login, display_name)
) STRICT;
CREATE INDEX viewer_names_by_login ON viewer_names (login);

-- By which words somebody is found: every name that they have or had, whole and in parts. Kept by the triggers, with a
-- function of store/name_keys.
CREATE TABLE name_words (
    word      TEXT NOT NULL,
    viewer_id TEXT NOT NULL REFERENCES viewers (id) ON DELETE CASCADE ON UPDATE CASCADE,
    PRIMARY KEY (word, viewer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX name_words_by_viewer ON name_words (viewer_id);
CREATE TRIGGER name_words_seen AFTER INSERT ON viewer_names BEGIN
    INSERT INTO name_words SELECT value, new.viewer_id FROM json_each(name_keys(new.login, new.display_name))
        WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER name_words_new AFTER INSERT ON viewers WHEN new.login IS NOT NULL BEGIN
    INSERT INTO name_words SELECT value, new.id FROM json_each(name_keys(new.login, new.display_name))
        WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER name_words_named AFTER UPDATE OF login ON viewers
    WHEN new.login IS NOT NULL AND new.login IS NOT old.login BEGIN
    INSERT INTO name_words SELECT value, new.id FROM json_each(name_keys(new.login, new.display_name))
        WHERE true ON CONFLICT DO NOTHING;
END;

-- ── streams ─────────────────────────────────────────────────────────────────────────────────
CREATE TABLE streams (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    started_at    INTEGER NOT NULL,
    last_event_at INTEGER NOT NULL,
    ended_at      INTEGER,
    twitch_id     TEXT,                              -- Helix's stream id, where it was asked
    title         TEXT NOT NULL DEFAULT '',
    category      TEXT NOT NULL DEFAULT '',
    recap         TEXT NOT NULL DEFAULT '',
    recapped_at   INTEGER,
    so_far        TEXT NOT NULL DEFAULT '',          -- what the streamer has `!missed` say of it; '': its summaries
    recap_file    TEXT NOT NULL DEFAULT '',          -- where it was written for the streamer
    recap_file_of INTEGER,                           -- `recapped_at` of what stands in that file
    posted_at     INTEGER,                           -- when it was posted to Discord, or may have been; 0: only if somebody asks
    video_id      INTEGER,                           -- Twitch's video of it …
    video_at      INTEGER,                           -- … when that begins …
    video_until   INTEGER                            -- … and until when it is probably kept
) STRICT;

-- To count the streams of a time without reading their recaps.
CREATE INDEX streams_by_start ON streams (started_at, ended_at);

CREATE TABLE attendance (
    viewer_id TEXT    NOT NULL REFERENCES viewers (id) ON DELETE CASCADE ON UPDATE CASCADE,
    stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    first_at  INTEGER NOT NULL,
    last_at   INTEGER NOT NULL,
    lines     INTEGER NOT NULL,
    PRIMARY KEY (viewer_id, stream_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attendance_by_first ON attendance (first_at);

-- ── tier 1: raw, at most 24 h ───────────────────────────────────────────────────────────────
CREATE TABLE events (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL,                    -- Twitch's id of the message
    key         INTEGER NOT NULL UNIQUE,             -- of that id, by store/line_keys
    stream_id   INTEGER REFERENCES streams (id),
    viewer_id   TEXT    NOT NULL REFERENCES viewers (id) ON UPDATE CASCADE,
    target_id   TEXT REFERENCES viewers (id) ON UPDATE CASCADE, -- whom a moderator's act hit
    kind        TEXT    NOT NULL,
    text        TEXT    NOT NULL,
    system_text TEXT    NOT NULL DEFAULT '',
    role        TEXT    NOT NULL,
    addressed   INTEGER NOT NULL DEFAULT 0,          -- it spoke to the bot
    from_bot    INTEGER NOT NULL DEFAULT 0,          -- context for a summary, evidence of nothing
    at          INTEGER NOT NULL,
    episode_id  INTEGER REFERENCES episodes (id),    -- NULL: not yet read
    redacted_at INTEGER,                             -- set: Twitch took the text away, and so did we; 0: a wish did
    tries       INTEGER NOT NULL DEFAULT 0,          -- summaries of it that failed, each of a smaller window …
    retry_at    INTEGER,                             -- … when the next one may be asked for …
    retry_from  INTEGER                              -- … and the seq of the first line of that window
) STRICT;
CREATE INDEX events_unread    ON events (at, seq) WHERE episode_id IS NULL AND redacted_at IS NULL;
CREATE INDEX events_by_age    ON events (at);
CREATE INDEX events_by_viewer ON events (viewer_id, at);
CREATE INDEX events_by_target ON events (target_id) WHERE target_id IS NOT NULL;
CREATE INDEX events_reported  ON events (at) WHERE redacted_at IS NULL AND (system_text <> '' OR kind = 'cheer');
CREATE INDEX events_by_episode ON events (episode_id) WHERE episode_id IS NOT NULL;

-- What happened to every line, so that it can be accounted for after it was pruned.
CREATE TABLE tally (
    name  TEXT PRIMARY KEY,                          -- lines, duplicates, excluded, pruned_covered, pruned_unread …
    count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- ── tier 2: what happened ───────────────────────────────────────────────────────────────────
CREATE TABLE episodes (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT    NOT NULL,                   -- chat, counted, command, import
    key          TEXT    UNIQUE,                     -- an import's own name for it, or the line that told it
    stream_id    INTEGER REFERENCES streams (id),
    started_at   INTEGER NOT NULL,
    ended_at     INTEGER NOT NULL,
    summary      TEXT    NOT NULL,
    events       INTEGER NOT NULL,
    model        TEXT    NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    extracted_at INTEGER,                            -- set once, whatever it yielded
    cleared_at   INTEGER,                            -- when what it said of who said a cleared line was cut
    tries        INTEGER NOT NULL DEFAULT 0,         -- how often reading it for notes failed …
    retry_at     INTEGER,                            -- … and when it is read again
    topic        TEXT    NOT NULL DEFAULT '',        -- what was played, as Twitch says
    language     TEXT    NOT NULL DEFAULT '',        -- what chat was in, by its English name; '': English or unknown
    sentence_times TEXT NOT NULL DEFAULT '[]'       -- when what each sentence says was said, 0 for unknown; JSON
) STRICT;
CREATE INDEX episodes_by_time        ON episodes (ended_at);
CREATE INDEX episodes_by_stream      ON episodes (stream_id, ended_at);
CREATE INDEX episodes_to_extract     ON episodes (id) WHERE extracted_at IS NULL;
CREATE INDEX episodes_cleared        ON episodes (cleared_at) WHERE cleared_at IS NOT NULL;

CREATE TABLE episode_people (
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    viewer_id  TEXT    NOT NULL REFERENCES viewers (id) ON DELETE CASCADE ON UPDATE CASCADE,
    lines      INTEGER NOT NULL,                     -- 0: mentioned, did not speak
    addressed  INTEGER NOT NULL DEFAULT 0,           -- of these, spoken to the bot
    PRIMARY KEY (episode_id, viewer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX episode_people_by_viewer ON episode_people (viewer_id, episode_id);

-- ── tier 3: what is known ───────────────────────────────────────────────────────────────────
CREATE TABLE semantic_notes (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    scope             TEXT    NOT NULL,              -- viewer, channel, running_bit
    subject_id        TEXT REFERENCES viewers (id) ON UPDATE CASCADE,
    fact              TEXT    NOT NULL,
    confidence        REAL    NOT NULL,
    status            TEXT    NOT NULL DEFAULT 'active',
    source_kind       TEXT    NOT NULL,              -- command, import, self_claim, observed, reported
    importance        TEXT    NOT NULL DEFAULT 'medium',
    topics            TEXT    NOT NULL DEFAULT '[]', -- JSON lists of words
    asked_with        TEXT    NOT NULL DEFAULT '[]',
    created_at        INTEGER NOT NULL,
    first_said_at     INTEGER NOT NULL,              -- of a note in new words: when the old one was said
    last_confirmed_at INTEGER NOT NULL,
    used_at           INTEGER,                       -- when a reply last used it
    stale             INTEGER NOT NULL DEFAULT 0,    -- neither confirmed nor used for long: only found by its words
    confirmed_stream  INTEGER,                       -- at most one confirmation a stream
    expires_at        INTEGER,                       -- NULL: permanent
    superseded_by     INTEGER REFERENCES semantic_notes (id),
    pinned            INTEGER NOT NULL DEFAULT 0,
    persona           TEXT    NOT NULL DEFAULT ''    -- whose note it is; '': of every persona
) STRICT;
CREATE INDEX notes_by_subject ON semantic_notes (subject_id, status) WHERE subject_id IS NOT NULL;
CREATE INDEX notes_by_scope   ON semantic_notes (scope, status) WHERE subject_id IS NULL;
CREATE INDEX notes_removed ON semantic_notes (id) WHERE status = 'retracted' AND subject_id IS NOT NULL;
CREATE INDEX notes_by_successor ON semantic_notes (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX notes_by_expiry  ON semantic_notes (status, expires_at) WHERE expires_at IS NOT NULL;

-- What notes say that their subjects are called ("goes by Deb"); it counts while the note is active. Kept by the triggers.
CREATE TABLE nicknames (
    word    TEXT    NOT NULL,
    note_id INTEGER NOT NULL REFERENCES semantic_notes (id) ON DELETE CASCADE ON UPDATE CASCADE,
    PRIMARY KEY (word, note_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX nicknames_by_note ON nicknames (note_id);
CREATE TRIGGER nicknames_new AFTER INSERT ON semantic_notes WHEN new.subject_id IS NOT NULL BEGIN
    INSERT INTO nicknames SELECT value, new.id FROM json_each(nickname_keys(new.fact)) WHERE true
        ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER nicknames_changed AFTER UPDATE OF fact ON semantic_notes WHEN new.fact IS NOT old.fact BEGIN
    DELETE FROM nicknames WHERE note_id = new.id;
    INSERT INTO nicknames SELECT value, new.id FROM json_each(nickname_keys(new.fact)) WHERE new.subject_id IS NOT NULL
        ON CONFLICT DO NOTHING;
END;

-- Which notes have a word, for questions about whoever it fits: kept by the triggers, with functions of
-- store/note_keys. Word and notes are numbers; a row holds the notes of 4,096 ids, two bytes each.
CREATE TABLE note_words (
    word  INTEGER NOT NULL,
    span  INTEGER NOT NULL,                          -- id / 4096
    notes BLOB    NOT NULL,                          -- id % 4096 of each
    PRIMARY KEY (word, span)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER note_words_new AFTER INSERT ON semantic_notes BEGIN
    INSERT INTO note_words SELECT value, new.id >> 12, with_place(x'', new.id & 4095)
        FROM json_each(note_keys(new.fact, new.topics, new.asked_with, new.status)) WHERE true
        ON CONFLICT DO UPDATE SET notes = with_place(notes, new.id & 4095);
END;
CREATE TRIGGER note_words_gone AFTER DELETE ON semantic_notes BEGIN
    UPDATE note_words SET notes = without_place(notes, old.id & 4095) WHERE span = old.id >> 12
        AND word IN (SELECT value FROM json_each(note_keys(old.fact, old.topics, old.asked_with, old.status)));
    DELETE FROM note_words WHERE notes = x'' AND span = old.id >> 12
        AND word IN (SELECT value FROM json_each(note_keys(old.fact, old.topics, old.asked_with, old.status)));
END;
CREATE TRIGGER note_words_changed AFTER UPDATE OF id, fact, topics, asked_with, status ON semantic_notes BEGIN
    UPDATE note_words SET notes = without_place(notes, old.id & 4095) WHERE span = old.id >> 12
        AND word IN (SELECT value FROM json_each(note_keys(old.fact, old.topics, old.asked_with, old.status)));
    DELETE FROM note_words WHERE notes = x'' AND span = old.id >> 12
        AND word IN (SELECT value FROM json_each(note_keys(old.fact, old.topics, old.asked_with, old.status)));
    INSERT INTO note_words SELECT value, new.id >> 12, with_place(x'', new.id & 4095)
        FROM json_each(note_keys(new.fact, new.topics, new.asked_with, new.status)) WHERE true
        ON CONFLICT DO UPDATE SET notes = with_place(notes, new.id & 4095);
END;

CREATE TABLE note_evidence (
    note_id    INTEGER NOT NULL REFERENCES semantic_notes (id) ON DELETE CASCADE,
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    stance     TEXT    NOT NULL,                     -- stated, confirmed, contradicted
    speaker_id TEXT REFERENCES viewers (id) ON DELETE SET NULL ON UPDATE CASCADE,
    addressed  INTEGER NOT NULL DEFAULT 0,           -- said to the bot, or overheard
    at         INTEGER NOT NULL,
    PRIMARY KEY (note_id, episode_id, stance)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_evidence_by_episode ON note_evidence (episode_id, note_id);

CREATE TABLE note_changes (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    note_id     INTEGER NOT NULL REFERENCES semantic_notes (id) ON DELETE CASCADE,
    at          INTEGER NOT NULL,
    from_status TEXT,
    to_status   TEXT    NOT NULL,
    cause       TEXT    NOT NULL
) STRICT;
CREATE INDEX note_changes_by_note ON note_changes (note_id, at);
CREATE INDEX note_changes_by_time ON note_changes (at);
-- What somebody corrected.
CREATE INDEX note_changes_by_hand ON note_changes (id) WHERE to_status = 'superseded' AND cause = '["by_hand", {}]';

-- What recall and replies leave alone: words that must all occur, or one note; about one viewer, or (NULL) at all.
CREATE TABLE never_mention (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    viewer_id TEXT REFERENCES viewers (id) ON DELETE CASCADE ON UPDATE CASCADE,
    words     TEXT    NOT NULL,
    note_id   INTEGER REFERENCES semantic_notes (id) ON DELETE CASCADE,
    by_id     TEXT REFERENCES viewers (id) ON DELETE SET NULL ON UPDATE CASCADE,
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX never_mention_by_viewer ON never_mention (viewer_id);
CREATE INDEX never_mention_by_note ON never_mention (note_id) WHERE note_id IS NOT NULL;

-- ── the book: what somebody asked to keep in the words in which it was said; everything else in it is read from the tiers
CREATE TABLE quotes (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    viewer_id TEXT    NOT NULL REFERENCES viewers (id) ON DELETE CASCADE ON UPDATE CASCADE, -- who said it
    text      TEXT    NOT NULL,
    line      TEXT    NOT NULL UNIQUE,               -- Twitch's id of the message
    stream_id INTEGER REFERENCES streams (id) ON DELETE SET NULL,
    said_at   INTEGER NOT NULL,
    by_id     TEXT REFERENCES viewers (id) ON DELETE SET NULL ON UPDATE CASCADE             -- who asked to keep it
) STRICT;
CREATE INDEX quotes_by_viewer ON quotes (viewer_id);
CREATE INDEX quotes_by_keeper ON quotes (by_id) WHERE by_id IS NOT NULL;
CREATE INDEX quotes_by_stream ON quotes (stream_id) WHERE stream_id IS NOT NULL;
-- A line that is deleted in chat, or of which nothing is left, is no quote any more.
CREATE TRIGGER quotes_cleared AFTER UPDATE OF redacted_at ON events WHEN new.redacted_at IS NOT NULL BEGIN
    DELETE FROM quotes WHERE line = new.id;
END;
CREATE TRIGGER quotes_emptied AFTER UPDATE OF text ON quotes WHEN new.text = '' BEGIN
    DELETE FROM quotes WHERE id = new.id;
END;

-- ── above the tiers: made of notes and episodes, disposable ─────────────────────────────────
CREATE TABLE briefs (
    id        INTEGER PRIMARY KEY,
    viewer_id TEXT    NOT NULL REFERENCES viewers (id) ON DELETE CASCADE ON UPDATE CASCADE,
    persona   TEXT    NOT NULL DEFAULT '',
    text      TEXT    NOT NULL,
    made_of   TEXT    NOT NULL,                      -- a hash of its sources
    notes     TEXT    NOT NULL DEFAULT '[]',         -- ids, JSON: it is used while all of them stand
    made_at   INTEGER NOT NULL,
    UNIQUE (viewer_id, persona)
) STRICT;
-- What was made of something that changed or went is let go, and made again.
CREATE TRIGGER briefs_note_gone AFTER DELETE ON semantic_notes BEGIN
    DELETE FROM briefs WHERE viewer_id = old.subject_id;
END;
CREATE TRIGGER briefs_note_changed AFTER UPDATE OF fact ON semantic_notes BEGIN
    DELETE FROM briefs WHERE viewer_id = old.subject_id;
END;
CREATE TRIGGER digest_recap_gone AFTER UPDATE OF recap ON streams WHEN old.recap <> '' AND new.recap = '' BEGIN
    DELETE FROM channel_state WHERE name IN ('digest', 'digest_of');
END;

-- ── what the bot said and did: 30 d ─────────────────────────────────────────────────────────
CREATE TABLE bot_messages (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    at               INTEGER NOT NULL,
    event_id         TEXT,                           -- what triggered it
    viewer_id        TEXT REFERENCES viewers (id) ON DELETE SET NULL ON UPDATE CASCADE,
    about_id         TEXT REFERENCES viewers (id) ON DELETE SET NULL ON UPDATE CASCADE, -- of a command: whom it is about
    trigger          TEXT    NOT NULL,
    mode             TEXT    NOT NULL,
    text             TEXT    NOT NULL,
    status           TEXT    NOT NULL,               -- sending, sent, shadow, dropped, refused, unknown, silent
    detail           TEXT    NOT NULL DEFAULT '',
    twitch_id        TEXT,
    model            TEXT    NOT NULL DEFAULT '',
    latency_ms       INTEGER,
    token_usage_json TEXT    NOT NULL DEFAULT '{}',  -- estimated, billed, cached, output, thoughts
    prompt_json      TEXT    NOT NULL DEFAULT '{}',  -- sections with row ids, dropped, shed; no chat text
    filters_json     TEXT    NOT NULL DEFAULT '[]',  -- which filters changed it
    notes_json       TEXT    NOT NULL DEFAULT '[]',  -- ids of the notes that it used
    outcome          TEXT    NOT NULL DEFAULT ''     -- how it was taken: good, bad, deleted, asked_again; '' unknown
) STRICT;
CREATE INDEX bot_messages_by_time   ON bot_messages (at);
CREATE INDEX bot_messages_by_viewer ON bot_messages (viewer_id, at);
-- One line of chat is answered at most once, whatever dies in between.
CREATE UNIQUE INDEX bot_messages_once ON bot_messages (event_id)
    WHERE event_id IS NOT NULL AND status IN ('sending', 'sent', 'unknown');
CREATE INDEX bot_messages_by_event  ON bot_messages (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX bot_messages_by_twitch_id ON bot_messages (twitch_id) WHERE twitch_id IS NOT NULL;
CREATE INDEX bot_messages_by_about  ON bot_messages (about_id) WHERE about_id IS NOT NULL;
CREATE INDEX bot_messages_open      ON bot_messages (id) WHERE status = 'sending';

CREATE TABLE action_logs (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    at             INTEGER NOT NULL,
    bot_message_id INTEGER REFERENCES bot_messages (id) ON DELETE SET NULL,
    key            TEXT    NOT NULL UNIQUE,          -- idempotency: one proposal is executed at most once
    asked_by       TEXT REFERENCES viewers (id) ON DELETE SET NULL ON UPDATE CASCADE,
    target_id      TEXT REFERENCES viewers (id) ON DELETE SET NULL ON UPDATE CASCADE,
    name           TEXT    NOT NULL,
    class          TEXT    NOT NULL,                 -- A, B, C
    params_json    TEXT    NOT NULL,
    verdict        TEXT    NOT NULL,                 -- allow, allow_changed, ask, deny
    rule           TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    status         TEXT    NOT NULL,                 -- denied, waiting, running, done, refused, failed, unknown, expired, undone
    detail         TEXT    NOT NULL DEFAULT '',
    decided_by     TEXT,                             -- who approved or denied it
    expires_at     INTEGER,                          -- when a waiting one lapses
    revert_at      INTEGER,                          -- when what it did has to be taken back
    finished_at    INTEGER
) STRICT;
CREATE INDEX action_logs_by_time ON action_logs (at);
CREATE INDEX action_logs_open    ON action_logs (status) WHERE status IN ('waiting', 'running');
CREATE INDEX action_logs_revert  ON action_logs (revert_at) WHERE revert_at IS NOT NULL;

-- ── the channel, the models, the rest ───────────────────────────────────────────────────────
CREATE TABLE channel_state (
    name       TEXT PRIMARY KEY,                     -- login, id, title, category, live, paused, safe_mode …
    value      TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE model_calls (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    purpose    TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    input      INTEGER,
    cached     INTEGER,
    output     INTEGER,
    thoughts   INTEGER,
    latency_ms INTEGER NOT NULL,
    error      TEXT
) STRICT;
CREATE INDEX model_calls_by_time ON model_calls (at);

-- ── figures: what the dock's pictures are made of when the rows behind them are gone; no text of anybody ────────────
CREATE TABLE spending (
    day     TEXT    NOT NULL,                        -- YYYY-MM-DD, in the channel's time zone
    purpose TEXT    NOT NULL,
    model   TEXT    NOT NULL,
    calls   INTEGER NOT NULL,
    input   INTEGER NOT NULL,
    cached  INTEGER NOT NULL,                        -- of the input
    output  INTEGER NOT NULL,                        -- with thoughts
    failed  INTEGER NOT NULL,
    PRIMARY KEY (day, purpose, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE minutes (
    stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    minute    INTEGER NOT NULL,                      -- since the epoch
    lines     INTEGER NOT NULL,
    people    INTEGER NOT NULL,
    addressed INTEGER NOT NULL,                      -- lines to the bot
    PRIMARY KEY (stream_id, minute)
) STRICT, WITHOUT ROWID;

CREATE TABLE moments (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    stream_id INTEGER NOT NULL REFERENCES streams (id) ON DELETE CASCADE,
    at        INTEGER NOT NULL,
    kind      TEXT    NOT NULL,                      -- title, game, raid, gift, clip
    text      TEXT    NOT NULL,                      -- the title or the game; how many raided or were given; the clip's address
    viewer_id TEXT REFERENCES viewers (id) ON DELETE SET NULL ON UPDATE CASCADE
) STRICT;
CREATE INDEX moments_by_stream ON moments (stream_id, at);
CREATE INDEX moments_by_viewer ON moments (viewer_id) WHERE viewer_id IS NOT NULL;

-- How replies were taken whose rows are gone.
CREATE TABLE reply_weeks (
    week    TEXT    NOT NULL,                        -- the day of its Monday
    outcome TEXT    NOT NULL,                        -- good, bad, deleted, corrected, asked_again, silence
    replies INTEGER NOT NULL,
    shown   INTEGER NOT NULL,                        -- notes that stood in their prompts …
    used    INTEGER NOT NULL,                        -- … and those of them that they used
    PRIMARY KEY (week, outcome)
) STRICT, WITHOUT ROWID;
