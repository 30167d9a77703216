import { ask, noteClock, outline } from './ask.ts'
import { type Finding, type Patient, failure, fine } from './finding.ts'
import { inWords } from './in-words.ts'

const about = 'sign-in'

/** Checks the identity provider's description of itself (OpenID Connect Discovery 1.0). */
export async function checkProvider(patient: Patient): Promise<Finding> {
  const { config, baseUrl } = patient
  if (!config.idp) return fine(about, 'by code and password; no identity provider is set')
  const { issuer } = config.idp
  const address = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`
  let answer
  try {
    answer = await ask(patient, address, { headers: { accept: 'application/json' } })
  } catch (error) {
    return failure(about, `${address}: ${inWords(error)}`, 'correct IDP_ISSUER, or let this machine reach it')
  }
  noteClock(patient, 'the identity provider', new Date(answer.headers.get('date') ?? Number.NaN))
  const { issuer: named, authorization_endpoint: login, token_endpoint: tokens } = answer.json ?? {}
  if (answer.status !== 200 || typeof named !== 'string' || typeof login !== 'string' || typeof tokens !== 'string')
    return failure(
      about,
      `${address} is no provider’s description of itself, but ${outline(answer)}`,
      'IDP_ISSUER is the address that the provider calls its issuer, without /.well-known/…',
    )
  if (!URL.canParse(named) || new URL(named).href !== new URL(issuer).href)
    return failure(about, `the provider at IDP_ISSUER calls itself ${named}`, `set IDP_ISSUER=${named}`)
  return fine(about, `${issuer} answers; it must know ${baseUrl}/api/auth/idp/callback as the return address`)
}
