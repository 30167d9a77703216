import { type Answer, ask, outline } from './ask.ts'
import { type Finding, type Patient, failure, fine, warning } from './finding.ts'
import { inWords } from './in-words.ts'
import { checkWebhook } from './webhook.ts'

/** Checks the running service at the addresses in its settings. */
export async function checkService(patient: Patient): Promise<Finding[]> {
  const { baseUrl, config } = patient
  const about = 'service'
  let answer: Answer
  try {
    answer = await ask(patient, `${baseUrl}/readyz`)
  } catch (error) {
    const says = `${baseUrl}: ${inWords(error)}; its pages and webhook addresses were not checked`
    return config.isPublic
      ? [failure(about, says, 'start it, or correct BASE_URL, the name or the proxy in front')]
      : [warning(about, says, `start it, and set PORT or BASE_URL here as there`)]
  }
  const [pages, ...webhooks] = await Promise.all([
    checkPages(patient),
    ...config.processors.map((processor) => checkWebhook(patient, processor)),
  ])
  return [readiness(baseUrl, answer), pages, ...webhooks]
}

function readiness(baseUrl: string, answer: Answer): Finding {
  const about = 'service'
  const { status, json } = answer
  if (status === 200 && json?.['status'] === 'ok') return fine(about, `${baseUrl} is ready`)
  if (json?.['code'] === 'database_unavailable')
    return failure(about, `${baseUrl} runs, but its database does not answer`, 'see the line about the database')
  if (json?.['code'] === 'shutting_down') return warning(about, `${baseUrl} is stopping`, 'start it again')
  return failure(
    about,
    `${baseUrl}/readyz is not answered by Till, but with ${outline(answer)}`,
    'let BASE_URL, and the proxy behind it, lead to this service',
  )
}

async function checkPages(patient: Patient): Promise<Finding> {
  const { baseUrl, appUrl, config } = patient
  const about = 'pages'
  const url = `${appUrl}/pay/`
  const advice = 'let APP_URL, and the proxy behind it, lead to this service, or to a copy of dist/'
  let answer: Answer
  try {
    answer = await ask(patient, url, { headers: { accept: 'text/html' } })
  } catch (error) {
    return failure(about, `${url}: ${inWords(error)}`, advice)
  }
  const named = /<meta name="till-api" content="([^"]*)"/.exec(answer.text)?.[1]
  if (answer.status !== 200 || named === undefined)
    return failure(about, `${url} is not the payment page, but ${outline(answer)}`, advice)
  // a page from the service has the API's address in its data; a page on a static host needs it in the file
  const isServed = answer.text.includes(`"baseUrl":"${baseUrl}"`)
  if (!isServed && named.replace(/\/+$/, '') !== (baseUrl === appUrl ? '' : baseUrl))
    return failure(
      about,
      `${url} calls another API than ${baseUrl}`,
      `write content="${baseUrl}" into <meta name="till-api"> of pay/ and order/ there, or restart the service`,
    )
  if (config.isPublic && !appUrl.startsWith('https:')) return failure(about, `${url} without TLS`, advice)
  return fine(about, `${url} answers`)
}
