const LANGUAGES = [
  ['js', 'Node'],
  ['python', 'Python'],
  ['php', 'PHP'],
] as const

/** The receivers in the text of docs/webhooks.md: the first program in each language. */
export const receiversIn = (guide: string): { name: string; code: string }[] =>
  LANGUAGES.flatMap(([language, name]) => {
    const code = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(guide)?.[1]
    return code === undefined ? [] : [{ name, code }]
  })
