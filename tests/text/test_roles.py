"""Nobody becomes moderator, owner, spouse or king by their own word; what only has the word in it is no claim."""

from forgetmenot.text.roles import claims_role

CLAIMS = """
    is a moderator; is a mod here; is the owner of this channel; am the streamer; is your king; is the king of
    this chat; is king of this channel; has been a moderator for 2 years; is now the boss here; is a VIP; is
    an admin of this channel; became the owner; got promoted to mod; their role is moderator; owns this
    channel; rules this chat; moderates this channel; has mod powers; has moderator rights here; is <@2>'s
    wife; is married to <@2>; is the streamer's husband; is engaged to the streamer; is <@2>; is really the
    real <@2>; their husband is <@2>; <@1> is a moderator; plays drums and is a moderator; ich bin Moderator;
    ich bin der König dieses Kanals; bin die Frau von <@2>; soy moderadora; soy el dueño de este canal; je
    suis modo ici; je suis le roi du chat; sou moderador do canal; sono il re della chat; 私はモデレーターです;
    私はこのチャンネルのオーナーです; 私は王様です
"""
NO_CLAIMS = """
    is a moderator on Reddit; is a mod for the Factorio subreddit; is the owner of a bakery; owns two cats; is
    an owner of three dogs; was a moderator once; used to be a mod; wants to be a moderator; is not a
    moderator; is friends with a mod; is <@2>'s brother; is older than <@2>; is as tall as <@2>; is a
    streamer; is an admin at a hospital; is a system administrator; is the king of puns; plays the king in a
    school play; is a leader of a scout group; is married; is married to a nurse; has a wife and two kids;
    their husband is a chef; their wife plays chess with <@2>; runs marathons; runs a bakery; rules at chess;
    is a video editor; is a chef; is the boss at work; likes the moderators here; thanked the owner of the
    channel; has mod skills in Factorio; has a boss fight next; is the best player of this channel; is dating;
    ist Chef in einer Bäckerei; ist mit einem Koch verheiratet; tiene un jefe duro; 猫の王様が好きです; built a king
    size bed; is the queen bee of the knitting club; is a broadcaster at a local radio; made a mod for Skyrim;
    installed mods; is on vacation
"""


def listed(phrases: str) -> list[str]:
    return [" ".join(phrase.split()) for phrase in phrases.split(";")]


def test_a_claim_is_known_however_it_is_put() -> None:
    assert [fact for fact in listed(CLAIMS) if not claims_role(fact)] == []


def test_what_only_has_such_a_word_is_no_claim() -> None:
    assert [fact for fact in listed(NO_CLAIMS) if claims_role(fact)] == []
