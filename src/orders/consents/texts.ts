import { createHash } from 'node:crypto'
import type { Locale } from '../../kit/locales.ts'

// Buyers of digital content agree to these texts before it is supplied within the withdrawal period (Directive 2011/83/EU, Article 16(m)).
// A text is never edited: another wording is another id, so that the hash in an old order still has its text here.

export interface Statement {
  id: string
  texts: Record<Locale, string>
}

/** The buyer agrees that the files come at once. */
const AT_ONCE: Statement = {
  id: 'immediate-1',
  texts: {
    en: 'I agree that I get the files at once, before the withdrawal period has ended.',
    de: 'Ich stimme ausdrücklich zu, dass ich die Dateien sofort erhalte, vor Ablauf der Widerrufsfrist.',
    fr: 'J’accepte expressément de recevoir les fichiers immédiatement, avant la fin du délai de rétractation.',
    es: 'Acepto expresamente recibir los archivos de inmediato, antes de que termine el plazo de desistimiento.',
    it: 'Acconsento espressamente a ricevere i file subito, prima della scadenza del periodo di recesso.',
    'pt-BR': 'Concordo expressamente em receber os arquivos imediatamente, antes do fim do prazo de arrependimento.',
    nl: 'Ik stem er uitdrukkelijk mee in dat ik de bestanden meteen krijg, voordat de bedenktijd voorbij is.',
    pl: 'Wyraźnie zgadzam się na otrzymanie plików od razu, przed upływem terminu odstąpienia od umowy.',
    tr: 'Cayma süresi dolmadan dosyaların bana hemen verilmesini açıkça kabul ediyorum.',
    ja: '撤回期間が終わる前に、ファイルをすぐに受け取ることに明示的に同意します。',
    ko: '청약 철회 기간이 끝나기 전에 파일을 바로 받는 것에 명시적으로 동의합니다.',
    'zh-Hans': '我明确同意在撤回期结束之前立即收到文件。',
    hi: 'मैं स्पष्ट रूप से सहमत हूँ कि वापसी की अवधि समाप्त होने से पहले मुझे फ़ाइलें तुरंत मिलें।',
    id: 'Saya secara tegas setuju menerima berkas segera, sebelum masa penarikan berakhir.',
    ar: 'أوافق صراحةً على استلام الملفات فورًا، قبل انتهاء فترة العدول عن العقد.',
    he: 'אני מסכים/ה במפורש לקבל את הקבצים מיד, לפני תום תקופת הביטול.',
  },
}

/** The buyer knows the consequences. */
const LOSS: Statement = {
  id: 'loss-1',
  texts: {
    en: 'I know that I lose my right of withdrawal with this.',
    de: 'Mir ist bekannt, dass ich dadurch mein Widerrufsrecht verliere.',
    fr: 'Je reconnais que je perds ainsi mon droit de rétractation.',
    es: 'Sé que con ello pierdo mi derecho de desistimiento.',
    it: 'Sono consapevole che in questo modo perdo il diritto di recesso.',
    'pt-BR': 'Estou ciente de que, com isso, perco meu direito de arrependimento.',
    nl: 'Ik weet dat ik daarmee mijn herroepingsrecht verlies.',
    pl: 'Wiem, że tracę w ten sposób prawo odstąpienia od umowy.',
    tr: 'Bununla cayma hakkımı kaybettiğimi biliyorum.',
    ja: 'これにより撤回の権利を失うことを理解しています。',
    ko: '이로써 청약 철회권을 잃는다는 것을 알고 있습니다.',
    'zh-Hans': '我知道我因此失去撤回权。',
    hi: 'मैं जानता/जानती हूँ कि इससे मेरा वापसी का अधिकार समाप्त हो जाता है।',
    id: 'Saya mengerti bahwa dengan ini saya kehilangan hak penarikan.',
    ar: 'أعلم أنني بذلك أفقد حقي في العدول عن العقد.',
    he: 'ידוע לי שבכך אני מאבד/ת את זכות הביטול שלי.',
  },
}

/** A buyer has to agree to these now. */
export const ASKED: readonly Statement[] = [AT_ONCE, LOSS]
/** With those of earlier orders. */
const STATEMENTS: readonly Statement[] = ASKED

export const textOf = (textId: string, locale: Locale): string | undefined =>
  STATEMENTS.find(({ id }) => id === textId)?.texts[locale]

export const hashOfText = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest()
