import { en } from '../../src/words/en.ts'

// What the modules of the pages read when they load: the page, in English. Tests of web/ import it first.
Object.assign(globalThis, {
  document: { documentElement: { lang: 'en' }, getElementById: () => ({ textContent: JSON.stringify(en) }) },
})
