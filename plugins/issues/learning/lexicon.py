"""English words that decide whether a word of a message may be a value: what log messages say, and grammar.

Long enough to hold the words of everyday log messages; words that are missing only make learning bolder, and
dozens of distinct ones are a value anyway. A few German, French and Spanish words of grammar are in, too.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Verbs of log messages; regular participles are made of them.
VERBS = _words("""
    abort accept access acknowledge acquire activate add allow append apply approve assign attach authenticate
    authorize await back begin bind block boot bounce break bring broadcast build call cancel capture change check
    choose claim clean clear click clone close collect commit compile complete compress compute confirm connect
    consume continue convert copy correct crash create cut deactivate debug decline decode decommission decrease
    decrypt defer delay delete deliver deny deploy detach detect die disable discard disconnect dismiss dispatch
    download drain drop dump edit enable encode encrypt end enqueue enter evict exceed exclude execute exit expect
    expire explain export extend extract fail fetch fill filter find finish fix flush force forget format forward
    free generate get give grant grow halt handle hang happen hide hit hold ignore import include increase index
    initialize insert inspect install interrupt invalidate invoke join keep kill launch leave limit link listen load
    lock log lose make mark match merge migrate miss modify mount move need notify obtain offer omit open overwrite
    parse pass pause pay perform persist pick ping poll post prepare press print process promote prune publish pull
    purge push put query queue raise reach read reactivate reap reassign reboot rebuild receive recompute reconcile
    reconnect record recover redeem redirect reduce refresh refund refuse register reject release reload remain
    remove rename render renew reopen repair repeat replace replay reply report request require reschedule reserve
    reset resize resolve respond restart restore resume retain retire retry return reuse reverse revert review
    revoke roll rotate run save scale scan schedule search see seek select sell send separate serve set settle ship
    show shut sign skip sleep snapshot sort spawn split stall start stop store stream strip submit subscribe succeed
    suspend swap switch sync take terminate test throttle throw time timeout touch track train transfer transform
    translate transmit trigger truncate try turn unblock undo uninstall unlink unload unlock unmount unregister
    unsubscribe update upgrade upload use validate vanish verify view void wait wake walk warn watch win withdraw
    work wrap write yield
""")

# Participles and past forms that are not regular.
IRREGULAR = _words("""
    began begun bound broke broken brought built chose chosen cut dead died done fell felt found forgot forgotten
    froze frozen gave given went gone got gotten grew grown had heard held hid hidden hung kept knew known laid lain
    left lent lost made meant met paid ran read reset said sat saw seen sent set shown shut sold slept spent split
    stood stuck swapped taken taught thrown told took torn tried understood undone unset withdrawn woke won written
    wrote
""")

# Third persons that are never plural nouns.
THIRD_PERSON = _words("""
    begins closes ends enters exits fails leaves opens returns starts stops succeeds
""")

# What a message tells apart: opposites, states, grades, outcomes.
CHOICES = _words("""
    absent active alive allowed ambiguous available bad before after behind ahead below above best worst bigger
    smaller broken busy cold hot clean dirty complete incomplete consistent inconsistent corrupt corrupted critical
    dead degraded different same double down up dry duplicate early late earlier later empty full enough erroneous
    error errors even odd existing missing expected unexpected fast slow fatal few many final forbidden fresh stale
    good greater less lesser healthy unhealthy high low higher lower highest lowest idle illegal legal inactive
    inbound outbound incoming outgoing insufficient sufficient invalid valid larger limited unlimited longer shorter
    lost found max min maximum minimum more most least new old newer older no none not null off on ok okay online
    offline optional mandatory out in over under overdue partial whole pending problem problems readable writable
    ready unready reachable unreachable redundant irregular safe unsafe secure insecure spurious unstable strict
    success successes successful unsuccessful failure failures supported unsupported true false trusted untrusted
    unable unavailable unauthorized unknown known unlocked locked unresponsive unused used useless visible invisible
    wrong yes always never once twice again already almost anyway currently immediately now soon still successfully
    then there here too very yet
""")

# Sides, roles, directions and sizes: mostly told apart, but people give such names too.
ROLES = _words("""
    parent child client server consumer producer destination source target direct indirect east west north south
    first last top bottom left right external internal ingress egress input output inner outer foreground background
    follower leader candidate observer local remote master slave replica primary secondary tertiary private public
    upstream downstream receiver sender recipient reader writer publisher subscriber responder initiator request
    response reply requests responses self single multiple standby stable default current previous next permanent
    temporary big small great large long short major minor tiny huge warm tight loose regular vertical horizontal
    verbose own today tomorrow yesterday daily hourly monthly weekly yearly
""")

# What things have: mostly told apart, but people give such names too.
ATTRIBUTES = _words("""
    account address age amount area attachment attribute balance bandwidth body brightness capacity category checksum
    city color comment concurrency content cookie cost count country coupon currency customer date deadline delay
    density depth description digest discount distance duration email encoding energy envelope expiry factor fee
    firmware flow folder footer format frequency gender hash header heap height hostname humidity icon id identifier
    image interval invoice iban item kernel key label language latency layout length license line load locale location
    margin memory metadata mileage model money name noise nonce note number offset order orientation owner parameter
    password path payload payment percentage period permission phone port position postcode power precision prefix
    pressure price priority product profile protocol quality quantity query quota range rate ratio reference refund
    region resolution role route salary schema score sensor sequence session shape shipment signature size speed
    stack stage state status stock storage street subject suffix sum surname swap tag tax temperature term thread
    throughput time timestamp timezone title token topic total traffic type unit uptime url usage user username value
    variant vendor version vibration voltage volume wavelength weight width zip
""")

# Levels as words.
LEVELS = _words("""
    trace debug info information notice warn warning warnings err error severe fatal crit critical alert alerts
    emerg emergency panic
""")

# Methods of requests.
METHODS = _words("""
    get head post put patch delete options connect trace
""")

# Words of grammar: they frame a value, and say less about the message than others.
GRAMMAR = _words("""
    a about above across after against all along among an and another any anything are aren't as at be because been
    before being between both but by can can't cannot could couldn't did didn't do does doesn't doing don't during
    each either else every everything few for from further had has hasn't have haven't he her here his how however i
    if in into is isn't it its itself just me more most must my neither no nor not nothing now of off on once one
    only onto or other our out over own per same she should since so some such than that the their them then there
    these they this those though through to too toward two under until unless upon us via was wasn't we were weren't
    what when where whether which while who whom whose why will with within without won't would you your der die das
    den dem des ein eine einen einem einer und oder nicht kein keine mit von vom zu zum zur im am auf aus bei nach
    ist sind war wurde werden le la les un une du de et ou pas est sont el los las y o es en con por para
""")

# A verb stands behind these, not a name.
BEFORE_VERB = _words("""
    to not can cannot can't could couldn't did didn't does doesn't do don't will won't would must should may might
    and or unable please
""")

# Words in capitals that are no codes of a currency, a country or a language.
SHORT_SAYING = _words("""
    ADD DEL END ERR GET MAX MIN NEW NOT OFF OK OLD ON PUT RUN SET UP YES
""")

# Behind these words stands a code, or a name that the first stage kept on purpose.
BEFORE_CODE = _words("""
    code codes errno error exit http rc returned sqlstate signal status errorcode
""")

# What stands behind these words is a part that lacks or is wrong.
BEFORE_PART = _words("""
    bad duplicate empty expired illegal incorrect insufficient invalid malformed mismatched missing unexpected
    unknown unsupported wrong
""")

# Behind these words stands one of a few states.
BEFORE_CHOICE = _words("""
    state status phase mode level result reason action operation command method outcome severity priority
""")
