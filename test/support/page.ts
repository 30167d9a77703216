import { en } from '../../src/words/en.ts'

// The page that the modules of the pages read when they load: in English, without data of its own. Tests of web/ import it first.
Object.assign(globalThis, {
  document: {
    documentElement: { lang: 'en' },
    getElementById: (id: string) => (id === 'till-data' ? null : { textContent: JSON.stringify(en) }),
    querySelector: () => null,
  },
})
