"""First names that are also words of text/word_table: chat means people by them, not things. Pure.

Left out are those that chat uses as words as well ("rose", "will", "grace"). They name somebody
where nobody else is named, as any ordinary word does.
"""

_GIVEN_NAMES = """
aaron abby abe abel abigail abraham ada adam adele adrian agnes ahmed aidan aiden akira alan albert
aldo alejandro aleksandr alex alexa alexander alexandra alexis alfred ali alice alicia alison allan
allen allison alma alvin amanda amelia amir amy ana anand anders andre andrea andreas andrei andrew
andrey andy angela angelina angelo angie anita ann anna anne annette annie anthony antoine anton
antonia antonio archie ariana ariel arjun arnold arthur arturo arya ashe asher ashley astrid audrey
ava avery axel bailey barbara barry bart bea beatrice becky bella ben benjamin benji benny bernard
bernardo bernie bert beth betty bianca billy bjorn blair blake bob bobbie bobby boris boyd brad
bradley brady bram brandi brandon brenda brendan brent brett brian bridget brittany brody brooke
bruce bruno bryan bryce burt caitlin cal caleb callum calvin cameron camille carl carla carlo carlos
carmen carol carolina caroline carolyn carrie carson carter casey cassidy catherine cathy cecil
cecilia cedric celia celine cesar chad charles charlie charlotte chelsea cheryl chloe chris
christian christina christine christoph christophe christopher chuck cindy claire clara clarence
clark claude claudia claus clayton clifford clint clive clyde cody cole coleman colin colleen connie
connor conor conrad constance cooper corey cornelius cory courtney craig cristina curtis cynthia
dale damian damien damon dan dana daniel daniela danielle danny daphne darcy darius darrell darren
darryl dave david davis dawson dean debbie deborah debra delilah denis denise dennis derek derrick
desmond dexter diana diane diego dieter dietrich dimitri dina dirk dmitri dmitry dolores dominic
dominique don donald donna donnie donovan dora dorian doris dorothea dorothy doug douglas duncan
dustin dwight dylan earl eddie eddy edgar edith edmond edmund edna eduardo edward edwin eileen
elaine eleanor elena eli elias elijah elisa elisabeth eliza elizabeth ella ellen elli ellie elliot
elliott elmer elsa elsie elton elvis emil emile emilia emilio emily emma emmanuel emmett emmy
enrique enzo eric erica erich erik erika erin ernest ernesto ernst esther ethan eugene eva evan eve
evelyn ezra fabian fabio fatima fay faye federico felicia felipe felix ferdinand fergus fernando
fidel filippo finn fiona flora florence florian floyd frances francesca francesco francis francisco
francois francoise frank frankie franz fred freddie freddy frederick fredrik friedrich fritz gabriel
gail garrett garth gary gaston gavin gemma gene genevieve geoff geoffrey george georgia gerald
geraldine gerard gerhard gerry gertrude giacomo gilbert giles gina giorgio giovanni giuseppe gladys
glen glenn gloria goran gordon gracie graeme graham greer greg gregory greta gretchen grover guido
guillaume guillermo gunnar gunther gus gustav gwen hamid hank hanna hannah hans hari harlan harold
harper harriet harris harrison harry harvey hassan hector heidi heinrich helen helena helmut henri
henrik henry herbert herman hermann hilary hilda hillary hiram hiroshi holden holly homer horace
horatio horst howard hubert hugh hugo hussein ian ibrahim ida ignacio igor ina ingrid irene irina
irving isaac isabel isabella isabelle isaiah isla ismail ivan ivo jack jackie jacob jacqueline
jacques jaime jake jakob james jamie jan jana jane janet janice jared jarvis jasmin jasmine jason
javier jay jean jeanne jed jeff jeffrey jen jenna jennie jennifer jenny jens jeremiah jeremy jerome
jerry jess jesse jessica jessie jill jim jimi jimmie jimmy jo joan joanna joanne joao jocelyn joe
joel joey johan johann johanna johannes john johnny jon jonah jonas jonathan jonny jordan jorge jose
josef joseph josephine josh joshua josie joyce juan judith judy jules julia julian juliana julie
juliet juliette julio julius jurgen juri justin justine kai kara karen karim karin karl kate
katherine kathleen kathryn kathy katie katrina kay kayla keith kelly kelsey ken kendall kendra kenji
kenneth kenny kent kerry kevin khalid kim kimberly kiran kirk klaus kris kristen kristin kristina
kurt kyle kylie lakshmi lamar lance lara larry lars laszlo laura lauren laurence laurie lawrence
layla lea leah leland lena leo leon leonard leonardo leopold leroy leslie lester levi lewis liam
lillian lily lina linda lindsay lionel lisa liz liza lizzie lloyd logan lois lola lorenzo loretta
lorraine lou louis louisa louise luca lucas lucia luciano lucien lucille lucinda lucy ludwig luigi
luis luisa luka lukas luke luna luther lydia lyle lynn mabel mack maddie madeleine madeline madison
magdalena maggie magnus malcolm malik mandy manfred manuel marc marcel marcelo marcia marco marcos
marcus marek margaret margarita margot marguerite maria marian mariana marianne mariano marie
marilyn marina mario marion marjorie marko marlene marlon marshall marta martha martin martina marty
marvin mary mason mateo mathias matilda matt matteo matthew matthias maureen maurice max maxwell
maya mel melanie melinda melissa melvin meredith mia michael michel michele michelle miguel mike
mikhail mildred miles millie milo milton mimi mina minnie mira miranda miriam mitch mitchell moe
mohamed mohammed mohan molly mona monica monique morgan moritz morris moses moshe muhammad muriel
murray mustafa myles myra nadia nancy naomi natalia natalie natasha nate nathan nathaniel neal neil
nell nellie nelson nestor nic nicholas nicky nico nicola nicolas nicole nigel nikita nikki nikola
nikolai nils nina noah noel noelle nolan nora norma norman olaf ole oleg olga oliver olivia omar
oscar oskar osman oswald otis otto owen pablo paige pam pamela paolo parker pascal pat patrice
patricia patrick patsy patty paul paula pauline pavel pedro peggy penelope percy perry pete peter
petra phil philip philippe phillip phoebe phyllis pia pierre pietro polly ponce priscilla quentin
quincy quinn rachel rafael ralph ramon ramsay randall randolph randy raoul raphael rashid raul ravi
ray raymond rebecca reggie regina reginald regis reid remi remy rene renee reza rhys ricardo richard
rick ricky riley rita rob robbie robert roberta roberto robin rocco rod roderick rodney rodrigo
roger roland rolf ron ronald ronan ronnie rory rosa rosalie rosie ross rowan roy royce ruben rudolf
rudolph rudy rufus ruiz rupert russ russell ruth ryan ryu sabine sabrina sadie sakura salim sally
salvatore sam samantha samuel sandra sandy sanjay sara sarah sasha saul scott sean sebastian selena
selma serena serge sergei sergio seth shan shane shannon sharon shaun shawn sheila sheldon shelley
sherry shirley shiva sid sidney siegfried sienna silas silvia silvio simon simone sofia sofie sonia
sonya sophia sophie spence spencer stacey stacy stan stanley stefan stella stephan stephane
stephanie stephen steve steven stewart stuart sue susan susanna susie suzanne sven sylvia tabitha
tamara tammy tanner tanya tara tasha tatiana taylor ted teddy terence teresa terri terry tessa theo
theodor theodore theresa thom thomas tiffany tim timmy timothy tina titus tobi tobias tobin toby
todd tom tomas tommy toni tony tracey tracy travis trent trevor tristan tyler tyrone tyson ulrich
ursula valentin valerie vanessa vera vernon veronica vicente vicki vicky victor victoria vijay
vikram viktor vince vincent vinnie virgil virginia vito vivian vlad vladimir waldo wallace wally
walter wanda warren wayne wendell wendy werner wes wesley whitney wilbur wilfred wilhelm willard
willem william willie willis winnie winston wolfgang xavier xiao yan yuki yuri yusuf yves yvonne
zach zachary zack zane zeke zoe
"""
GIVEN_NAMES = frozenset(_GIVEN_NAMES.split())
