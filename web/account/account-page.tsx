import { useEffect, useMemo, useState } from 'preact/hooks'
import { explain, explainCode } from '../ui/auth-words.ts'
import { Notice } from '../ui/notice.tsx'
import { OneMoment } from '../ui/one-moment.tsx'
import { useStore } from '../ui/store.ts'
import { openAccount, SIGN_IN_AGAIN, type Account, type AccountState } from './account.ts'
import { HistoryPart } from './history-part.tsx'
import { Bar } from '../shop/bar.tsx'
import { useRecovery } from '../ui/recovery.ts'
import { IdentitiesPart } from './identities-part.tsx'
import { MailboxPart } from './mailbox-part.tsx'
import { InvoicesPart } from './invoices-part.tsx'
import { BrandPart } from './brand-part.tsx'
import { NamePart } from './name-part.tsx'
import { MailsPart } from './mails-part.tsx'
import { PasswordPart } from './password-part.tsx'
import { SessionsPart } from './sessions-part.tsx'
import { useSettings } from './settings.ts'
import { SupportPart } from './support-part.tsx'
import { TaxPart } from './tax-part.tsx'
import { keepTyped } from './typed.ts'

export function AccountPage() {
  const account = useMemo(openAccount, [])
  const state = useStore(account)
  const [error] = useState(takeError)
  const { seller, session, trouble } = state
  useRecovery(trouble, () => void account.load(true))
  return (
    <>
      <Bar under="account" onLeave={account.signOut} />
      <main class="room">
        {seller && session ? (
          <Parts account={account} state={state} seller={seller} session={session} error={error} />
        ) : (
          <Opening account={account} trouble={trouble} />
        )}
      </main>
    </>
  )
}

type Known = Required<Pick<AccountState, 'seller' | 'session'>>

function Parts({
  account,
  state,
  seller,
  session,
  error,
}: Known & { account: Account; state: AccountState; error: string | undefined }) {
  /** The lists come together, and so each has the same trouble. */
  const shown = { trouble: state.trouble, again: () => void account.load() }
  const { areHere, brand, tax, invoices, mails } = useSettings(account)
  useEffect(() => {
    if (areHere && /^#[a-z]+$/.test(location.hash)) document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [areHere])
  return (
    <div class="account">
      <header class="top">
        <div>
          <h1>Your account</h1>
          <p class="soft">
            Signed in as <span class="address">{seller.email}</span>
          </p>
        </div>
      </header>
      {error && (
        <Notice tone="alarm" role="alert" title={explainCode(error, 'Linking').title}>
          <p>{explainCode(error).text}</p>
          {error === 'recent_sign_in_required' && (
            <a class="link" href={SIGN_IN_AGAIN} onClick={keepTyped}>
              Sign in again
            </a>
          )}
        </Notice>
      )}
      {areHere ? (
        <>
          <NamePart account={account} seller={seller} />
          <SupportPart account={account} seller={seller} />
          <BrandPart account={account} loaded={brand} />
          <TaxPart account={account} loaded={tax} />
          <InvoicesPart account={account} loaded={invoices} />
          <MailsPart account={account} loaded={mails} />
          <MailboxPart account={account} seller={seller} sessionId={session.id} />
          <PasswordPart account={account} seller={seller} recentUntil={session.recentUntil} />
          <IdentitiesPart account={account} state={state} />
          <SessionsPart account={account} loaded={{ ...shown, value: state.sessions }} />
          <HistoryPart loaded={{ ...shown, value: state.events }} />
        </>
      ) : (
        <OneMoment />
      )}
    </div>
  )
}

/** Shown until the account has arrived: a moment, a longer moment, or the reason why it does not come. */
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

/** The reason why linking failed. Removed from the address, so that a reload does not show it again. */
function takeError(): string | undefined {
  const error = new URLSearchParams(location.search).get('error') ?? undefined
  if (error) history.replaceState(null, '', location.pathname)
  return error
}
