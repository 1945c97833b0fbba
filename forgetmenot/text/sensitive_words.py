"""Words that make a text sensitive, by category: beginnings of words in eleven languages. Pure.

English, German, Spanish, French, Portuguese, Italian, Polish, Turkish, Russian, Japanese, Korean. A stem is the
beginning of a word, without accents; in Japanese and Korean it may stand anywhere. They do not decide: "sick" and
"church" are harmless as often as not. text/classifier is told of them and looks at the words around.
"""

import re

from forgetmenot.text.classifier import as_read
from forgetmenot.text.clean import plain

_IS = r"(?:ist|bin|es|soy|est|suis|e|sono|sou|jest|jestem|ben|on|она|он|я)"
_STEMS = {
    "health": (
        r"diagnos|diabet|insulin|asthma|epilep|seizure|migraine|arthrit|coeliac|celiac|crohn|cancer|tumou?r|"
        r"leuk[ae]|chemo|hiv\b|lupus|fibromyalg|sclerosis|parkinson|alzheimer|dementia|anae?mi|eczema|"
        r"psoriasis|hepatitis|tubercul|pneumonia|bronchitis|tinnitus|scoliosis|endometri|tourette|dyslexi|"
        r"fibrosis|palsy|hernia|ulcer|appendic|herpes|chlamydia|covid|influenza\b|flu\b|fever\b|infect|"
        r"concussion|injur|illness\b|disease|disorder|syndrome|disab|surger|operat|transplant|miscarr|abort|"
        r"allerg|pacemaker|chronic|terminally|paraly[sz]|wheelchair|amput|prosthe|coma\b|hospital|icu\b|"
        r"pregnan|ivf\b|menopaus|sprain|fractur|dislocat|broke|intoleran|deaf|hearing|medic|meds\b|prescri|"
        r"painkill|antibiotic|dialysis|alcoholi|addict|rehab|overdos|relaps|sober|insomni|narcolep|apno?ea|"
        r"anorexi|bulimi|ill\b|unwell|sick\b|pain\b|doctor|specialist|physio|oncolog|cardiolog|neurolog|"
        r"poisoning|mri\b|biops|x-?ray|kidney|thyroid|epipen|inhaler|remission|ibs\b|carpal|vaccin|quarantin|"
        r"stitches|vomit|nause|tonsil|sciatica|osteo|obes|malaria|crutch|stroke\b|heart\b|blood|symptom|limp|"
        r"stutter|stammer|lisp\b|blind|handicap|pills?\b|tablet|dose|clinic|scan\b|"
        r"diabet(?!es\b)|diyabet|zuckerkrank|schwanger|embarazad|enceinte\b|gravid[ao]|incinta|hamile|epilep(?!sy)"
        r"|epiless|adhs\b|tdah\b|dehb\b|antidepress?iv|antidepresiv|antidepresan|antydepres"
        r"|depressi(?:v|onen|one\b|f\b)|depresi(?!ve)|depressao|depresj|depresyon|magersuch|bulimi|boulimi|anoressi"
        r"|anorexi[ea]|angststor|panikattack|ansiedad|ansia\b|anxiete|angoisse|nerwic|anksiyete|psychiat|psiquiat"
        r"|psichiat|psikiyat|psykolog|psicolog|psikolog|therapeut(?!ic)|krankgeschrieben|krankenhaus|hopital\b"
        "|chemother|quimio|chimio|chemio|kemoterap|(?:allergi(?!c|es)|alergi|alerji)(?!.{0,25}(?:level|nivea|nivel|"
        r"livell|leczen))|\w*intoleranz|intoleranci|colitis|asthm(?!a)|asma\b|astm[aeyię]|astım|migran[ea]\b|migrain"
        r"|emicrani|enxaqueca|migren|sclerose|sclerosi|esclerosis|esclerose|cancro\b|tumore\b|(?:an|hat) krebs"
        r"|(?:tiene|con|tuvo|tem|teve) cancer|nowotw|raka\b|kanser|cukrzyc|padaczk|ciaz[ayęe]|w ciąż|autis(?!m|tic)"
        r"|autyz|otiz|bipolair|zweipol|borderline\b|seropositi|vih\b|hiv\b|behindert|behinderung|handicape|discapacid"
        r"|deficien\w+ (?:fisic|visual|audit)|disabil[ei]|niepełnosp|engelli|rollstuhl|silla de ruedas"
        "|fauteuil roulant|cadeira de rodas|sedia a rotelle|wozku inwal|burn ?out|arret maladie|medikament"
        "|traitement|insulin|celia[ck]|celiach|ameliyat|hastalig|hastalığ|hastas[iı](?!y|m)|диабет|эпилепс|онколог"
        r"|раком\b|рака\b|беремен|депресс|антидепресс|сдвг|аутиз|аутист|астм|мигрен|аллерг(?!.{0,20}уровн)|химиотерап"
        r"|психиатр|психотерап|психолог|биполяр|шизофрен|анорекс|булими|вич\b|инвалид|инсулин|панически|tumor\b"
        "|leuk[aä]mi|leucemi|lösemi|losemi|bialaczk|schlaganfall|herzinfarkt|infarto|infarctus|zawal|kalp krizi"
        r"|operiert\b|operiere|opere d|operad[oa] d|operat[oa] (?:al|alla|di|per)|zoperowan|insonnia|insomni[ae]\b"
        "|schlafstorung|bezsenno|uykusuzluk|arthrit|artrit|artros|rheuma|reumat|alkoholiker|alcolist|alcoolique"
        r"|alcoolatra|alcoholic[oa]\b|alkolik|farmac[oi] per|leki na|ilac kullan|deprimi(?:d|e\b|ert)|лейкем|инсульт"
        r"|инфаркт|бессонниц|артрит|алкоголи|таблетк\w+ от"
    ),
    "faith": (
        r"muslim|islam|jew(?:s|ish)?\b|judais|buddh|hindu|sikh|catholic|protestant|mormon|lutheran|bapti[sz]|"
        r"methodist|presbyter|evangel|orthodox|jehov|pagan|wicca|satanis|scientolog|atheis|agnost|quaker|"
        r"amish|rastafar|anglican|baha|zoroastr|shinto|taois|christian|church|mosque|synagog|temple|mass\b|"
        r"ramadan|hajj|umrah|hanuk|chanuk|kippur|passover|shabb?at|sabbath|diwali|lent\b|eid\b|kosher|halal|"
        r"mitzvah|communion|rosary|pray|god\b|allah|jesus|christ\b|afterlife|heaven|relig|theolog|bible|"
        r"quran|koran|torah|scriptur|pastor|rabbi|imam|nun\b|deacon|missionar|reverend|vicar|priest|monk|"
        r"convert|faith|hijab|niqab|kippah|altar|seminar|convent|clergy|congregat|sermon|confess|fast(?:s|"
        r"ing)\b|easter|kirche|eglise|iglesia|igreja|chiesa\b|kosci[oe]l|kościo|kilise|церк|worship|holy|saint|pilgrim|"
        "kathol|catoli|cattoli|catholiq|katoli|protestant|evangelisch|evangeli[cq]|ortodox|moslem|muslim|musulm"
        r"|muculm|muzulm|islam|musluman|jude[\b ]|judin\b|judisch|judi[oa]\b|jui(?:f|ve)|judeu|ebre[oa]\b|ebrai"
        r"|zyd(?:em|ow)|żyd|yahudi|budd?h?is|bouddh|budis|hindu|ate[ou]\b|atea\b|athee|atheis|ateis|agnosti"
        "|(?:testigo|temoin|testimone|testemunha|zeugen?)s? (?:de |di )?(?:jehov|geov|jeov)|jehow|mosche[ea]|mosque"
        r"|mezquita|mesquita|meczet|camiye|synagog|sinagog|misa\b|missa\b|(?:a|alla) messa\b|na msz[eę]\b|ramad"
        r"|ramazan|getauft|taufe\b|bautiz|baptise|batizad|battezz|ochrzcz|konfirmiert|koscher|kosher|halal|casher"
        r"|beicht|sabbat|schabbat|szabat|shabat|espirita\b|umbanda|candomble|alevi|sunni|namaz|dindar|hristiyan"
        r"|cristian[oa]|chretien|chrzesc|(?:ist|bin) christ(?:in)?\b|crente\b|credente|croyant|creyente|glaubig"
        "|wierzac|wierząc|inancli|inançlı|мусульман|христиан|православн|католи|иуде|евре[йяе]|буддис|атеист|агностик"
        "|ислам|мечет|синагог|крест(?:ился|илась|или|илс)|молит(?:ся|ва)|пост(?:ится|юсь)|шаббат|верующ"
        r"|свидетел\w+ иегов|рамадан|намаз|konfession|gottesdienst|allah|koran\b|coran\b|corano\b|alcorao|bibel"
        r"|biblia|biblii|bibbia|pfarrer|pastor[ae]?\b|rabbin|imam\b|haham\b|ksiedz|ministrant|mormon|библи|коран"
        r"|имам\b|священник|креще"
    ),
    "politics": (
        r"republican|democrat|tory\b|tories|ukip|marxis|leninis|communis|fascis|nazi|libertar|anarchis|"
        r"socialis|antifa|maga\b|qanon|alt[- ]right|monarchis|nationalis|suprem|zionis|brexit|gop\b|blm\b|"
        r"trump\b|biden|obama|kamala|desantis|putin|zelensk|netanyahu|macron|starmer|merkel|sanders|farage|"
        r"conservativ|progressiv|centris|leftis|liberal|feminis|(?:left|right)[- ]?wing|far[- ](?:left|right)|"
        r"vot(?:e|es|ed|ing|er)\b|ballot|elect|referendum|primaries|midterm|party\b|parties\b|politic|"
        r"canvass|lobby|union|immigra|pro-?(?:life|choice|gun)|activis|protest|rally\b|march(?:ed|es)?\b|"
        r"campaign|impeach|minister|president|senat|congress|parliament|mayor|greens\b|green party|labour\b|petition|"
        r"strike\b|"
        r"cdu\b|csu\b|spd\b|fdp\b|afd\b|die grunen|linkspartei|kommunis|comunis|komunis|sozialis|socialist|sosyalist"
        r"|politisch (?:ganz |eher |weit )?(?:links|rechts)|rechtsextrem|linksradikal|konservativ|conservador|psoe\b"
        r"|de vox\b|de (?:izquierdas?|derechas?|gauche|droite|esquerda|direita)|di (?:sinistra|destra)"
        r"|independentista|peronist|feminista|feministin|encarte|milit[ae]\b|est (?:rn|lfi|lr)\b|au (?:ps|rn)\b"
        r"|macron|melenchon|ecolos\b|psol\b|pdt\b|psdb\b|bolsonar|lulist|petist|filiad|cinque stelle"
        r"|fratelli d.italia|forza italia|nella lega\b|anarchi[cks]|anarquist|fascist|faschis"
        r"|g[lł]os(?:uj|owa)\w* na (?:pis|po|ko|psl|lewic|konf|tusk|dud|parti)\b|lewic|prawic|koalicj\w+ obywatel"
        r"|konfederacj|akp|chp\b|chp[a-z]*ye|mhp|hdp\b|iyi parti|parti\w* oy(?!un)|solcu|sagci|sağcı|ulkucu"
        r"|milliyetci|wahlt (?:\w+ )*(?:grun|link|rechts|cdu|spd|afd|fdp)|vot\w+ (?:\w+ ){0,3}(?:elecci|eleico|"
        r"elezion|election|partid|parti\b)|wahlkampf|parteimit|sindicalist|gewerkschaft|кпрф|лдпр|един\w+ росси"
        r"|навальн|путин|оппозици|митинг|голос\w+ за (?:путин|навал|кпрф|лдпр|един|парт|оппоз)|на выбор|выборах"
        r"|партии\b|монархист|либертариан|левак|коммунист|либерал|консерватор|социалист|die linke$|npd\b|bsw\b"
        r"|(?:al|del|en el|no|do|au) (?:pp|pt|pd|pcf|pc)\b|de (?:podemos|sumar)\b|milei|chavist|kirchner|abascal"
        r"|insoumis|rassemblement national|zemmour|gilets? jaunes?|syndicat|centriste|mdb\b|marxist|sindicat|sindacat"
        r"|meloni|salvini|leghist|grillin|pd\b|partito\b|tusk|kaczyn|platform\w+ obywat|wybor(?:ach|c)|partii\b"
        r"|erdogan|imamoglu|secim(?:de|lerde)|muhafazakar|kemalist|parti(?:li|sine)\b|националист|анархист|феминист"
        r"|левых взгляд|правых взгляд|politik\b|politique\b|polityk|siyaset|siyasi|политик|политическ|wahlerin"
        r"|wahler\b|(?:bundestags|landtags|kommunal|europa)wahl|wahllokal|briefwahl|stimmzettel|parteitag"
        "|in der partei|presidentielle|legislatives|bulletin de vote|aux urnes|las urnas|nas urnas|elecciones"
        "|eleicoes|elezioni|partido (?:popular|socialista|comunista|liberal)|parti (?:socialiste|communiste)"
        r"|partito (?:democratico|comunista)|vota (?:meloni|la lega|il pd|pd)|votou (?:n[oa] |em |lula)|lula\b|sejm"
        r"|pis.?ow|narodowc|ataturkcu|laikci|liberte sociale|gewerkschaf|abtreibung|avortement|aborto\b|aborcj|kurtaj"
        "|аборт|выборы президент|путинист|зеленск"
    ),
    "sexuality": (
        r"lesbian|bisex|homosex|heterosex|asex|aroman|pansex|demisex|transgend|transsex|trans\b|non[- ]?bin|"
        r"enby|gender|agender|intersex|polyam|polycule|cisgend|cis\b|ftm|mtf|gay\b|queer\b|bi\b|pan\b|ace\b|"
        r"straight|hrt\b|hormon|estrogen|testoster|deadnam|c[ao]m(?:e|es|ing) out|closet|virgin|sex|kink|"
        r"fetish|onlyfans|porn|nude|bdsm|attracted|pronoun|boyfriend|girlfriend|husband|wife|pride|drag|"
        "lesb|schwul|homosex|homoseks|omosess|bisexuel|bisessu|biseks|bisexual|asexuel|asessu|aseks|assexual|pansex"
        "|panseks|transgener|transgend|transfrau|transmann|transsex|transess|trans (?:frau|mann|homem|mulher|kobiet|"
        "mezczyzn|mężczyzn|erke|kadin)|nichtbinar|no binari|non binair|non binari|niebinarn|nao.binari|coming ?out"
        r"|geoutet|(?:del|do) (?:closet|armario)|z szafy\b|assumiu (?:gay|bi|les|trans)|gej(?:em)?\b|escinsel"
        "|eşcinsel|gaymi[sş]|acıldı, gay|(?:mag|liebt|steht auf) (?:frauen|manner)|aime les (?:filles|garcons|"
        "femmes|hommes)|gustan (?:las|los) (?:chic|mujer|hombre)|gosta de (?:menin|mulher|homen|garot)"
        "|piacciono (?:le|i|gli) (?:ragazz|donn|uomin)|woli (?:dziewczy|chlopak|chłopak|kobiet|mezczyz|mężczyz)"
        r"|(?:kizlardan|kızlardan|erkeklerden|kadınlardan) hos|hormon(?:en|as|es)\b|polyamor|poliamor|heterosex"
        r"|travesti\b|genderfluid|genero fluid|lgbt|лгбт|квир|гомосек|пансекс|транс\b|трансмуж|трансжен|ге[йя]\b"
        r"|геем\b|лесби|бисексу|гомосексу|асексу|трансген|транссексу|каминг|небинарн|нрав\w+ (?:девушк|парн|мужчин|"
        "женщин)|same.sex|gleichgeschlechtlich|mismo sexo|meme sexe|stesso sesso|mesmo sexo|tej samej plci|hemcins"
        r"|однопол|(?:er|el|il|lui|ele|on|он) (?:\S+ ){0,4}(?:ehemann|marido|mari|marito|novio|petit ami|fidanzato|"
        r"namorado|chlopaka|парнем|мужем)\b|(?:ella|elle|lei|ela|ona|она) (?:\S+ ){0,4}(?:ehefrau|esposa|moglie|"
        r"novia|petite amie|copine|fidanzata|namorada|dziewczyne|девушкой|женой)\b|jego (?:chlopak|maz)\b"
        r"|jej (?:dziewczyn|zon)|его (?:парень|муж)\b|е[ея] (?:девушка|жена)\b|csd\b|orgullo gay|marche des fiertes"
        r"|parad\w+ rownosci|onur yuruyus|прайд|geschlechtsangleich|geschlechtsumwand|cambio de sexo"
        r"|changement de sexe|mudanca de sexo|cambio di sesso|zmian\w plci|korekt\w plci|cinsiyet degis|смен\w+ пола"
        r"|sexuelle orient|orient\w+ sexu|orient\w+ sessu|orientacj\w seks|cinsel yonel|ориентаци|prawiczk|asexu"
        r"|demisex|aromant|gay (?:et|und|y|e|i|ve|и)\b|(?:gay|gej|гей)[aу]?$"
    ),
    "real_name": (
        r"names?\b|surname|called|legally|passport|birth certificate|id card|licen[cs]e|irl|real life|"
        r"christened|"
        r"ich heisse\b|mein (?:vor)?name|me llamo|mi nombre\b|je m.appelle|mon (?:pre)?nom\b|meu nome|me chamo"
        r"|mi chiamo|il mio nome|nazywam sie|(?:mam|ma) na imi|moje imi|(?:benim )?ad[iı]m\b|ismim|меня зовут|мое имя"
        r"|heisst (?:in echt|eigentlich|wirklich|im echten)|(?:richtig|wahr|echt|burgerlich|wirklich)\w* name"
        "|nachname|(?:im|laut) (?:ausweis|reisepass|fuhrerschein)|nombre (?:real|verdadero|completo|de verdad)"
        "|verdadero nombre|apellid|en la vida real (?:soy|es|se|me)|(?:dni|pasaporte) (?:pone|dice|sale)"
        r"|vrai (?:nom|prenom)|en vrai\b|nom de famille|carte d.identite|nome (?:verdadeiro|real|completo|de verdade|"
        "vero|reale)|verdadeiro nome|sobrenome|na vida real (?:sou|e|me|se)|na identidade|vero nome|cognome"
        "|nella vita reale (?:sono|e|si|mi)|carta d.identita|all.anagrafe|naprawde (?:nazywa|ma na|jest|mam|sie)"
        r"|prawdziw\w+ (?:imi|nazw)|w rzeczywistosci|nazwisk|w dowodzie|na co dzien jestem|gercek (?:ism|isim|ad[iı])"
        r"|asil ad[iı]|soyad|soyism|kimlikte|настояще\w+ им|на самом деле \w* ?зовут|фамили|в жизни\b|по паспорту"
        "|в паспорте|vornam|zunam|familiennam|geburtsnam|madchennam|burgerlich|heisst er|heisst sie"
        "|nombre de (?:pila|soltera|nacimiento)|(?:en realidad|de verdad) se llama|se llama (?:en realidad|de "
        "verdad)|prenom|nom de (?:jeune fille|naissance)|etat civil|s.appelle (?:vraiment|en fait|en realite)"
        "|nome di battesimo|si chiama (?:davvero|in realta|veramente)|in realta si chiama"
        "|nome de (?:batismo|nascimento|registro|solteira)|certidao|se chama (?:na verdade|mesmo)"
        "|na verdade se chama|imie i nazwisko|drugie imie|w paszporcie|tak naprawde to|nufus|gobek ad|tam ad|отчеств"
        "|полное имя|зовут (?:на самом|вообще)"
    ),
    "mood": (
        r"depress|adhd\b|autis|asperger|bipolar|ocd\b|c?ptsd|schizo|psychos|psychot|suicid|self[- ]?harm|"
        r"dissociat|agoraphob|ssri|xanax|prozac|zoloft|ritalin|adderall|neurodiver|anxi|panic|mental|"
        r"breakdown|therap|psychiat|psycholog|counsel|shrink\b|burn(?:ed|t)?[- ]?out|borderline|sad\b|sadness|"
        r"lonel|hopeless|miserab|worthless|heartbr|stress|unhapp|numb|griev|grief|mourn|manic|mania|mood|"
        r"trauma|esteem|cries\b|cry(?:ing|s)?\b|cried\b|despair|empty|meltdown|spectrum\b"
    ),
    "minor_age": (
        r"underage|minor\b|kids?\b|child|teen|grade\b|school|freshman|sophomore|adult|birthday|turn(?:s|ed|ing)?\b"
        r"|born|aged?\b|eighteen|(?:eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen)\b|(?:9|1[0-7])\b"
        r"|\d+ ?(?:years|yrs|y)"
    ),
}
_ANYWHERE = {
    "health": (
        "糖尿病|がん(?:の|で|に|を|と)|癌|妊娠|うつ病|鬱|抗うつ|てんかん|発達障害|自閉|喘息|アレルギー|片頭痛|抗がん"
        "|精神科|心療内科|双極性|統合失調|パニック障害|不安障害|拒食|過食|障害者|車椅子|入院|手術|持病|白血病|と診断"
        "|당뇨|암(?:에|을|이|수술| 진단| 수술)|임신|우울증|항우울|뇌전증|간질|자폐|천식|(?<!스테이지 )알레르기"
        "|편두통|항암|정신과|조울|공황|불안장애|거식|폭식|장애인|휠체어|입원|수술|지병|백혈병|진단받"
        "|(?<![a-z])adhd(?![a-z])|通院|鬱病|うつで|脳梗塞|心筋梗塞|アルコール依存|睡眠薬|薬を飲ん|不眠症|뇌졸중"
        "|심근경색|알코올 중독|수면제|불면증|약을 먹|투병"
    ),
    "faith": (
        "信者|教徒|カトリック|プロテスタント|キリスト教|イスラム|ムスリム|仏教|神道|創価学会|ユダヤ|改宗|洗礼|礼拝"
        "|無神論|教会に(?:行|通)|モスク|エホバ|ラマダン|교회|성당|천주교|기독교|개신교|불교|이슬람|무슬림|유대교"
        "|무교|무신론|여호와|세례|예배|개종|신자|절에 다|라마단|聖書|コーラン|牧師|神父|洗礼|ヒンドゥ|성경|코란|목사"
        "|신부님|힌두|교인"
    ),
    "politics": (
        "自民党|民主党|社民党|支持政党|右寄り|左寄り|共産党|公明党|維新の会|れいわ|参政党|党員|に投票|左翼(?!の)"
        "|右翼(?!の)|保守派|リベラル|選挙で|デモに|국힘|문재인|윤석열|이재명|박근혜|우익|좌익|정당|시위|민주당"
        "|국민의힘|정의당|진보|보수|극우|극좌|좌파|우파|당원|대선|총선|투표했|지지자|집회에|選挙|政党|右派|左派|政治"
        "|改憲|護憲|与党|野党|선거|여당|야당|정치|촛불집회|지지함"
    ),
    "sexuality": (
        "ゲイ(?!ル|ム|ザ|ン|ト|ブ|シャ)|レズ|バイセクシ|バイ(?:だ|です|なん|って)|(?:男|女|男性|女性|同性)が好き"
        "|性同一性|パンセク|クィア|同性愛|両性愛|トランス(?:女性|男性|ジェンダー)|アセクシ|無性愛|カミングアウト"
        "|恋愛対象|ノンバイナリー|性的少数|게이(?=예|야|임|다|라|인|래|$| )|레즈|바이섹|바이라|호모|동성|범성애"
        "|논바이너리|성전환|성정체성|(?:남자|여자)를 좋아|양성애|동성애|무성애|트랜스젠더|트랜스(?:남|여)|커밍아웃"
        "|퀴어|여자인데 여자|남자인데 남자|성소수자|同性婚|同性カップル|同性パートナー|性的指向|性別適合|性転換"
        "|レインボープライド|性自認|両性|男と付き合ってる男|女と付き合ってる女|성적 지향|숫총각|퀴퍼"
    ),
    "real_name": (
        "本名|下の名前|フルネーム|私の名前|本当の名前|名字は|苗字は|免許証|実名|保険証|본명|제 이름|내 이름|풀네임"
        "|진짜 이름|실명|민증|주민등록|신분증|戸籍|パスポート|氏名|リアルの名前|実際の名前|苗字|名字|名前は本当|여권"
        "|호적|성함|원래 이름|실제 이름|본래 이름|이름이 진짜"
    ),
}
_SERVICE = (
    r"(?:insta\w*|snap\w*|telegra\w*|whatsapp\w*|discord\w*|tiktok\w*|skype\w*|kakao\w*|signal|viber|facebook|"
    r"twitter|steam|bluesky|mastodon|linkedin|threads|wechat|tg|psn|xbox|инст\w*|телег\w*|вк\b|ватсап\w*|インスタ|"
    r"テレグラム|line|ライン|カカオ|인스타\w*|텔레그램\w*|카톡\w*|라인)"
)
_SITE = r"[a-z0-9-]+\.(?:gg|com|tv|net|org|io|me|ly|be)\b"
_CONTACT = (
    rf"{_SERVICE}[^.!?]{{0,20}}?(?<![a-z0-9.])(?!{_SITE})[a-z0-9]+[._][a-z0-9._]+|{_SERVICE} (?:\S+ ){{0,3}}?(?:bin|"
    r"heiss\w*|soy|estoy|suis|c.est|sono|sou|jestem|ekle|add|я|como|come|als|unter|sous|pod|jako|olarak|как|под|"
    r"nickiem|pseudo|usuario|utente|adim|kullanici)\b[ \w]{0,12} [a-z]\w{3,}$|(?:ajoute|agreg|anad|aggiung|adiciona|"
    rf"dodaj|добав)\w*.{{0,12}}{_SERVICE} [a-z]\w{{3,}}|{_SERVICE} ekle \w+|{_SERVICE}(?:のid|では|は|는|"
    r"가)\s*[a-z]\w{3,}|\b(?:malpa|małpa|собака|arroba|chiocciola|arobase|klammeraffe)\b.{0,40}\b(?:kropka|точка|"
    r"punto|ponto|point|punkt|nokta)\b"
)


def _pattern(category: str) -> re.Pattern[str]:
    """Stems at the beginning of words; the two scripts without spaces anywhere."""
    own = rf"|{_IS} (?:\w+ )?(?:gay|trans|bi|queer)\b" if category == "sexuality" else ""
    anywhere = f"|{_ANYWHERE[category]}" if category in _ANYWHERE else ""
    return re.compile(rf"\b(?:{_STEMS[category]}{own}){anywhere}")


_PATTERNS = {category: _pattern(category) for category in _STEMS} | {"contact": re.compile(_CONTACT)}


def word_signs(text: str) -> list[str]:
    """The categories of which a text has a word."""
    read = as_read(text)
    return [category for category, pattern in _PATTERNS.items() if pattern.search(read)]


# ── what is not covered ───────────────────────────────────────────────────────────────────────

_SCRIPTS = re.compile(
    "[\u0370-\u03ff\u0530-\u06ff\u0700-\u0fff\u1000-\u10ff\u1200-\u139f\u1780-\u17ff]"  # Greek … Khmer, not Cyrillic
)
_HAN, _KANA = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"), re.compile("[\u3040-\u30ff]")
_FUNCTION_WORDS = re.compile(
    r"\b(?:het|een|niet|heeft|naar|mijn|zijn|wordt|och|inte|jag|ett|ikke|jeg|ogsa|minun|olen|mina|jsem|neni|jako|egy|"
    r"nem|vagyok|hogy|sunt|este|pentru|toi|khong|saya|tidak|yang|adalah|ako|ang|mga|sam|nije)\b"
)


def in_uncovered_language(text: str) -> bool:
    """Whether a text is in a language whose sensitive facts are not known here, as far as letters and words show."""
    bare = plain(text)
    letters = sum(char.isalpha() for char in bare)
    other = len(_SCRIPTS.findall(bare)) + (0 if _KANA.search(bare) else len(_HAN.findall(bare)))
    return 2 * other > letters or len(set(_FUNCTION_WORDS.findall(bare))) > 1
