import assert from 'node:assert/strict'
import fs from 'node:fs/promises'
import { test } from 'node:test'
import type { Description } from '../../src/pages/api/description.ts'
import { OPENS_NOTHING, SCOPES } from '../../src/sellers/keys/scopes.ts'
import { sharedShop } from '../support/shop.ts'

const shared = sharedShop()

/** The routes of everybody, and of the operators, whose guard knows sessions only. */
const NOT_SELLERS = new Set(['Checkout', 'Charges', 'Withdrawals', 'Library', 'Sandbox', 'Operator', 'Operation'])
/** Routes that need no session: the steps of signing in and out, and the document of an invoice, which its own link opens. */
const BEFORE_SIGN_IN = new Set(['requestCode', 'getAwaitedCode', 'verifyCode', 'signInByPassword', 'signOut', 'getProviders', 'getInvoiceDocument', 'startProviderSignIn', 'finishProviderSignIn']) // oxfmt-ignore
/** Changes that only a signed-in person makes: of the account itself, and those that lead buyers or their mails elsewhere. */
const SESSION_ONLY = ['addSite', 'changeBrand', 'changeMailSettings', 'confirm', 'decline', 'endOtherSessions', 'endSession', 'getBrand', 'getInvoiceProfile', 'getMailSettings', 'getPayoutAccount', 'getSession', 'linkIdentity', 'listAccountEvents', 'listIdentities', 'listPayoutDetails', 'listSessions', 'listSites', 'openPayoutAccount', 'putInvoiceProfile', 'putPayoutDetails', 'removeLogo', 'removePayoutDetails', 'removeSite', 'removeTaxProfile', 'renameSeller', 'requestBuyerEmailChange', 'requestEmailChange', 'saveTaxProfile', 'setLogo', 'setPassword', 'tellPayoutAccount', 'unlinkIdentity', 'verifyEmailChange'] // oxfmt-ignore

interface Declared {
  operationId: string
  tags: string[]
  security?: Record<string, string[]>[]
}

async function described() {
  const { body } = await shared().call<Description>('GET', '/api/openapi.json')
  const operations = Object.values(body.paths).flatMap((methods) => Object.values(methods)) as unknown as Declared[]
  return { components: body.components, operations }
}

test('every route of a seller names the scope that a key needs, or is on the list of those without keys', async () => {
  const { operations } = await described()
  const sellers = operations.filter(
    ({ tags, operationId }) => !tags.some((tag) => NOT_SELLERS.has(tag)) && !BEFORE_SIGN_IN.has(operationId),
  )
  assert(sellers.length > 40)
  const withoutScope: string[] = []
  for (const { operationId, security = [] } of sellers) {
    const scopes = security.flatMap(({ apiKey }) => apiKey ?? [])
    if (scopes.length === 0) withoutScope.push(operationId)
    else for (const scope of scopes) assert((SCOPES as readonly string[]).includes(scope), `${operationId}: ${scope}`)
    assert(
      security.every((way) => 'session' in way || way.apiKey?.length === 1),
      operationId,
    )
  }
  assert.deepEqual(withoutScope.sort(), SESSION_ONLY)
  const taken = new Set(sellers.flatMap(({ security = [] }) => security.flatMap(({ apiKey }) => apiKey ?? [])))
  assert.deepEqual(
    SCOPES.filter((scope) => !taken.has(scope)),
    OPENS_NOTHING,
  )
  // a page imports no values of the service
  const page = await fs.readFile(new URL('../../web/shop/developers/keys/typed-key.ts', import.meta.url), 'utf8')
  const [, notOffered] = /OPENS_NOTHING: readonly Scope\[\] = \[(.*)\]/.exec(page)!
  assert.deepEqual(notOffered!.match(/[a-z]+:[a-z]+/g), OPENS_NOTHING)
})

test('no other route names a session or a key', async () => {
  const { operations } = await described()
  for (const { operationId, tags, security } of operations)
    if (tags.some((tag) => NOT_SELLERS.has(tag)) || BEFORE_SIGN_IN.has(operationId))
      assert.deepEqual(security ?? [], [], operationId)
})

test('the description has both ways to prove oneself', async () => {
  const { components } = await described()
  const { session, apiKey } = components.securitySchemes as Record<string, Record<string, string>>
  assert.deepEqual([session?.type, session?.in], ['apiKey', 'cookie'])
  assert.deepEqual([apiKey?.type, apiKey?.scheme], ['http', 'bearer'])
})
