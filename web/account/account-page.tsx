import { useEffect, useMemo, useState } from 'preact/hooks'
import { explain, explainCode } from '../ui/auth-words.ts'
import { Notice } from '../ui/notice.tsx'
import { OneMoment } from '../ui/one-moment.tsx'
import { useStore } from '../ui/store.ts'
import { openAccount, SIGN_IN_AGAIN, type Account } from './account.ts'
import { useDeed } from './deed.ts'
import { IdentitiesPart } from './identities-part.tsx'
import { MailboxPart } from './mailbox-part.tsx'
import { NamePart } from './name-part.tsx'
import { Do, Refused } from './part.tsx'
import { PasswordPart } from './password-part.tsx'
import { SessionsPart } from './sessions-part.tsx'

export function AccountPage() {
  const account = useMemo(openAccount, [])
  const state = useStore(account)
  const [error] = useState(takeError)
  const { seller, session, trouble } = state
  const ready = seller !== undefined
  useEffect(() => {
    if (ready && location.hash === '#password') document.getElementById('password')?.scrollIntoView()
  }, [ready])
  if (!seller || !session) return <Opening account={account} trouble={trouble} />
  return (
    <div class="account">
      <header class="top">
        <div>
          <h1>Your account</h1>
          <p class="soft">
            Signed in as <span class="address">{seller.email}</span>
          </p>
        </div>
        <div class="row">
          <a class="button" href="/shop/">
            Your shop
          </a>
          <SignOut account={account} />
        </div>
      </header>
      {error && (
        <Notice tone="alarm" role="alert" title={explainCode(error, 'Linking').title}>
          <p>{explainCode(error).text}</p>
          {error === 'recent_sign_in_required' && (
            <a class="link" href={SIGN_IN_AGAIN}>
              Sign in again
            </a>
          )}
        </Notice>
      )}
      {trouble ? <Failed account={account} trouble={trouble} /> : null}
      <NamePart account={account} seller={seller} />
      <MailboxPart account={account} seller={seller} />
      <PasswordPart account={account} seller={seller} recentUntil={session.recentUntil} />
      <IdentitiesPart account={account} state={state} />
      <SessionsPart account={account} sessions={state.sessions} />
    </div>
  )
}

/** Before the account is there: a moment, a longer moment, or why it does not come. */
function Opening({ account, trouble }: { account: Account; trouble: unknown }) {
  return (
    <div class="account">
      <h1>Your account</h1>
      {trouble ? <Failed account={account} trouble={trouble} /> : <OneMoment />}
    </div>
  )
}

function Failed({ account, trouble }: { account: Account; trouble: unknown }) {
  const { title, text } = explain(trouble)
  return (
    <Notice tone="alarm" role="alert" title={title}>
      {text && <p>{text}</p>}
      <button type="button" class="link" onClick={() => void account.load()}>
        Try again
      </button>
    </Notice>
  )
}

function SignOut({ account }: { account: Account }) {
  const deed = useDeed()
  return (
    <>
      <Do
        busy={deed.busy}
        onClick={() =>
          void deed.run(async () => {
            await account.signOut()
            return ''
          })
        }
      >
        Sign out
      </Do>
      <Refused deed={deed} />
    </>
  )
}

/** Why linking did not work. Said once: a reload must not say it again. */
function takeError(): string | undefined {
  const error = new URLSearchParams(location.search).get('error') ?? undefined
  if (error) history.replaceState(null, '', location.pathname)
  return error
}
