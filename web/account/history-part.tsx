import { moment } from '../ui/format.ts'
import type { AccountEvent } from '../ui/auth-api.ts'
import { Shown } from '../shop/parts.tsx'
import type { ListOf } from './account.ts'
import { Part } from './part.tsx'

const WHAT: Record<AccountEvent['what'], string> = {
  identity_linked: 'An account at an identity provider was linked',
  identity_added: 'A further account at the same identity provider was linked',
  identity_unlinked: 'An account at an identity provider was unlinked',
  password_changed: 'The password was set',
  email_changed: 'The account moved to another address',
  support_email_changed: 'Buyers read another support address',
  key_created: 'An API key was made',
  key_rolled: 'An API key got a new secret',
  key_revoked: 'An API key was revoked',
  payout_details_changed: 'New payout details were entered',
  payout_details_removed: 'The payout details were removed',
}

/** The changes to the account's protection, so that an owner sees another person's changes. */
export function HistoryPart({ loaded }: { loaded: ListOf<AccountEvent> }) {
  return (
    <Part
      id="history"
      title="What has changed"
      about="You did not do one of these? Sign in by a code, set a new password, and end the sessions that you do not know."
    >
      <Shown of={loaded}>
        {(events) =>
          events.length > 0 ? (
            <ul class="entries">
              {events.map(({ at, what, issuer, email, keyName, currency }) => (
                <li key={`${at} ${what} ${keyName ?? currency ?? ''}`}>
                  <div>
                    <p class="name">{WHAT[what]}</p>
                    <p class="soft small">
                      {email && (
                        <>
                          <span class="address">{email}</span>,{' '}
                        </>
                      )}
                      {keyName && `“${keyName}”, `}
                      {currency && `${currency}, `}
                      {issuer && `${new URL(issuer).host}, `}
                      {moment(at)}
                    </p>
                  </div>
                </li>
              ))}
            </ul>
          ) : (
            <p class="soft">Nothing has changed yet.</p>
          )
        }
      </Shown>
    </Part>
  )
}
