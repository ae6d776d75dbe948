"""Month names in twenty languages, wide and abbreviated, in lower case and without a dot.

Source: the Unicode CLDR, locales cs da de el en es fi fr hu it nb nl pl pt ro ru sk sv tr uk.
"""

from typing import Final

_NAMES: Final = (
    "ene enero gen gennaio ian ianuarie jan janeiro januar januari january január januára janv janvier led leden "
    "ledna oca ocak sty styczeń stycznia tammi tammikuu tammikuuta ιαν ιανουάριος ιανουαρίου січ січень січня янв "
    "январь января",
    "feb febbraio febr febrero februar februari februarie february február februára fev fevereiro févr février "
    "helmi helmikuu helmikuuta lut lutego luty úno únor února şub şubat φεβ φεβρουάριος φεβρουαρίου лют лютий "
    "лютого февр февраль февраля",
    "bře březen března maalis maaliskuu maaliskuuta maart mar marca march marec mars mart martie marts marzec "
    "marzo março mrt márc március mär märz μάρ μάρτιος μαρ μαρτίου бер березень березня мар март марта",
    "abr abril apr april aprile aprilie apríl apríla avr avril dub duben dubna huhti huhtikuu huhtikuuta kwi "
    "kwiecień kwietnia nis nisan ápr április απρ απρίλιος απριλίου апр апрель апреля квіт квітень квітня",
    "kvě květen května mag maggio mai maio maj maja may mayo mayıs mei máj mája május touko toukokuu toukokuuta "
    "μάι μάιος μαΐ μαΐου май мая трав травень травня",
    "cze czerwca czerwiec giu giugno haz haziran iun iunie juin jun june junho juni junio jún júna június kesä "
    "kesäkuu kesäkuuta červen června čvn ιουν ιουνίου ιούν ιούνιος июн июнь июня черв червень червня",
    "heinä heinäkuu heinäkuuta iul iulie juil juillet jul julho juli julio july júl júla július lip lipca lipiec "
    "lug luglio tem temmuz července červenec čvc ιουλ ιουλίου ιούλ ιούλιος июл июль июля лип липень липня",
    "ago agosto août aug august augusta augusti augustus augusztus ağu ağustos elo elokuu elokuuta sie sierpień "
    "sierpnia srp srpen srpna αυγ αυγούστου αύγ αύγουστος авг август августа серп серпень серпня",
    "eyl eylül sep sept september septembra septembre septembrie septiembre set setembro settembre syys syyskuu "
    "syyskuuta szept szeptember wrz wrzesień września zář září σεπ σεπτέμβριος σεπτεμβρίου вер вересень вересня "
    "сент сентябрь сентября",
    "eki ekim loka lokakuu lokakuuta oct october octobre octombrie octubre okt oktober október októbra ott "
    "ottobre out outubro paź październik października říj říjen října οκτ οκτωβρίου οκτώβριος жовт жовтень жовтня "
    "окт октябрь октября",
    "kas kasım lis listopad listopada listopadu marras marraskuu marraskuuta noiembrie nov november novembra "
    "novembre novembro noviembre νοέ νοέμβριος νοε νοεμβρίου лист листопад листопада нояб ноябрь ноября",
    "ara aralık dec december decembra decembrie des desember dez dezember dezembro dic dicembre diciembre déc "
    "décembre gru grudnia grudzień joulu joulukuu joulukuuta pro prosince prosinec δεκ δεκέμβριος δεκεμβρίου груд "
    "грудень грудня дек декабрь декабря",
)

MONTHS: Final = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
