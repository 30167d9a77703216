import { render } from 'preact'
import { LOCALES, type Locale } from '../../src/kit/locales.ts'
import { wordsOf } from './language.ts'
import { LANGUAGE } from './page-data.ts'
import { readTab, writeTab } from './tab-storage.ts'

/** What the buyer typed and chose before the page loaded itself again, by the ids of the fields. */
const PLACE = 'till:typed'
const typed = readTab<Record<string, string>>(PLACE) ?? {}
writeTab(PLACE, undefined)

/** Once: a field that comes again begins with what its page has kept. An emptied field is empty. */
export function typedBefore(field: string, otherwise = ''): string {
  const text = typed[field] ?? otherwise
  delete typed[field]
  return text
}

/** Keeps what the buyer has typed and chosen for the page that is loaded next, but for the numbers of a card. Other elements have no value. */
function keepTyped(): void {
  const fields = [...document.querySelectorAll<HTMLInputElement>('#app [id]:not([type=tel])')]
  writeTab(PLACE, Object.fromEntries(fields.map(({ id, value }) => [id, value])))
}

/** Loads the page again, with what the buyer has typed. */
export function reload(): void {
  keepTyped()
  location.reload()
}

/** On the pages with our own footer. */
export const showLanguageChoice = (): void => render(<LanguageChoice />, document.getElementById('language')!)

/** Shows the page in another language. The service remembers the choice. */
export function LanguageChoice() {
  const choose = (locale: string) => {
    keepTyped()
    const address = new URL(location.href)
    address.searchParams.set('locale', locale)
    // Only the part behind the "#" differs from time to time, and an address that differs only there loads nothing.
    if (address.href === location.href) location.reload()
    else location.replace(address)
  }
  return (
    <label class="language">
      <span class="unseen">{wordsOf('ui').language}</span>
      <select value={LANGUAGE} onChange={(event) => choose(event.currentTarget.value)}>
        {LOCALES.map((locale) => (
          <option key={locale} value={locale} lang={locale}>
            {NAMES[locale]}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The name of each language in itself. `Intl.DisplayNames` knows them too, and loads the data of 16 languages for it. */
const NAMES: Record<Locale, string> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  it: 'Italiano',
  'pt-BR': 'Português (Brasil)',
  nl: 'Nederlands',
  pl: 'Polski',
  tr: 'Türkçe',
  ja: '日本語',
  ko: '한국어',
  'zh-Hans': '简体中文',
  hi: 'हिन्दी',
  id: 'Bahasa Indonesia',
  ar: 'العربية',
  he: 'עברית',
}
