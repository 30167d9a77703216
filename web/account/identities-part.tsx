import { startLink } from '../ui/auth-api.ts'
import { providerName } from '../ui/auth-words.ts'
import { moment } from '../ui/format.ts'
import type { Account, AccountState } from './account.ts'
import { useAction } from '../ui/action.ts'
import { Do, Part, Refused, Saved } from './part.tsx'

/** The seller's linked identities at the provider. The part appears only where a provider is or was set up. */
export function IdentitiesPart({ account, state }: { account: Account; state: AccountState }) {
  const action = useAction()
  const identities = state.identities ?? []
  if (!state.idp && identities.length === 0) return null
  const link = () =>
    void action.run(async () => {
      const { url } = await account.asSeller(() => startLink('/account/'))
      location.assign(webAddress(url))
      return new Promise<string>(() => {})
    })
  const remove = (id: string) =>
    void action.run(async () => {
      await account.unlink(id)
      document.getElementById('identities-title')?.focus()
      return `Unlinked. You sign in ${HOW_ELSE} now.`
    }, id)
  return (
    <Part
      id="identities"
      title="Linked account"
      about={`With ${providerName} you sign in without a password, and without a code where it vouches for your address.`}
    >
      {identities.length > 0 && (
        <ul class="entries">
          {identities.map(({ id, issuer, email, linkedAt }) => (
            <li key={id}>
              <div>
                <p class="name">{email ?? 'An account without an address'}</p>
                <p class="soft small">
                  {new URL(issuer).host}, linked {moment(linkedAt)}
                </p>
              </div>
              <Do busy={action.doing === id} onClick={() => remove(id)} label={`Unlink ${email ?? issuer}`}>
                Unlink
              </Do>
            </li>
          ))}
        </ul>
      )}
      <Refused action={action} />
      <div class="row">
        {state.idp && identities.length === 0 && (
          <Do busy={action.busy} onClick={link}>
            Link {providerName}
          </Do>
        )}
        <Saved>{action.said}</Saved>
      </div>
    </Part>
  )
}

const HOW_ELSE = 'with a code or your password'

/** Accepts only an http(s) address of the provider: an address such as `javascript:` would run a script. */
function webAddress(text: string): string {
  const url = new URL(text, location.href)
  if (!/^https?:$/.test(url.protocol)) throw new Error('not an address of the web')
  return url.href
}
