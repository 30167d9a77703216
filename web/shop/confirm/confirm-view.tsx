import './confirm.css'
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../../ui/action.ts'
import { moment } from '../../ui/format.ts'
import { Notice } from '../../ui/notice.tsx'
import { Refusal } from '../../ui/refusal.tsx'
import { isRefusal } from '../api.ts'
import { CopyButton } from '../copy-button.tsx'
import { type Loaded, useLoad } from '../load.ts'
import { Head, Refused, Shown } from '../parts.tsx'
import { signInAgain } from '../session.ts'
import type { ViewProps } from '../views.ts'
import { type Confirmation, type Decided, confirm, decline, getConfirmation } from './confirm-api.ts'

/** A program's proposal. The seller sees all of it before deciding. */
export default function ConfirmView({ id }: ViewProps): VNode {
  const proposal = useLoad(id, () => getConfirmation(id))
  if (isRefusal(proposal.trouble, 'confirmation_not_found')) {
    return (
      <>
        <Head title="No such proposal" />
        <p class="lead">There is nothing to confirm in this shop. The link may belong to another account.</p>
      </>
    )
  }
  return (
    <>
      <Head title={proposal.value?.title ?? 'A proposal'} />
      <Shown of={proposal}>{(value) => <Proposal of={value} loaded={proposal} />}</Shown>
    </>
  )
}

function Proposal({ of, loaded }: { of: Confirmation; loaded: Loaded<Confirmation> }) {
  const { key, state, createdAt } = of
  const [decided, setDecided] = useState<Decided>()
  const [wasOpen] = useState(state === 'open')
  // The answer of the service before a decision that failed: it may have been decided since.
  const [doubted, setDoubted] = useState<Confirmation>()
  return (
    <div class="proposal stack">
      <p class="lead">
        The key “{key.name}” (…{key.lastFour}) proposed this on {moment(createdAt)}.
        {state === 'open' && doubted !== of && ' Nothing has happened yet.'}
      </p>
      <Lines shown={of.shown} />
      {state === 'open' ? (
        <Choice
          of={of}
          onDecided={(outcome) => {
            setDecided(outcome)
            loaded.put({ ...of, ...(outcome ? { state: 'confirmed', status: outcome.status } : { state: 'declined' }) })
            loaded.again()
          }}
          onFailed={() => {
            setDoubted(of)
            loaded.again()
          }}
        />
      ) : (
        <Outcome of={of} decided={decided} isNew={wasOpen} />
      )}
    </div>
  )
}

const Lines = ({ shown }: Pick<Confirmation, 'shown'>) => (
  <dl class="proposed">
    {shown.map(({ label, value, before }) => (
      <div key={label}>
        <dt>{label}</dt>
        <dd>
          {before !== undefined && (
            <>
              <span class="soft">Now</span> <del>{before}</del> <span class="soft">then</span>{' '}
            </>
          )}
          <span class="value">{value}</span>
        </dd>
      </div>
    ))}
  </dl>
)

interface ChoiceProps {
  of: Confirmation
  onDecided: (outcome: Decided | undefined) => void
  onFailed: () => void
}

function Choice({ of: { id, expiresAt }, onDecided, onFailed }: ChoiceProps) {
  const action = useAction()
  const decide = (what: 'confirm' | 'decline') =>
    void action.run(async () => {
      try {
        onDecided(what === 'confirm' ? await confirm(id) : await decline(id))
      } catch (trouble) {
        onFailed()
        throw trouble
      }
      return ''
    }, what)
  const choices = [
    ['confirm', 'Confirm', 'button main'],
    ['decline', 'Decline', 'button'],
  ] as const
  return (
    <>
      {action.refusedFor('recent_sign_in_required') ? (
        <Refusal key={action.tries} tone="trial" icon="lock" title="Please sign in again first.">
          <p>You can confirm for ten minutes after signing in.</p>
          <button type="button" class="link" onClick={signInAgain}>
            Sign in again
          </button>
        </Refusal>
      ) : (
        <Refused action={action} />
      )}
      <div class="row">
        {choices.map(([what, label, look]) => (
          <button
            key={what}
            type="button"
            class={look}
            aria-disabled={action.busy ? 'true' : undefined}
            onClick={() => decide(what)}
          >
            {action.doing === what && <span class="spinner" aria-hidden="true" />}
            {label}
          </button>
        ))}
      </div>
      <p class="small soft">This proposal ends on {moment(expiresAt)}. Confirming does it once, in your name.</p>
    </>
  )
}

interface OutcomeProps {
  of: Confirmation
  decided: Decided | undefined
  /** The buttons were here before it, and have taken the focus with them. */
  isNew: boolean
}

function Outcome({ of: { state, status }, decided, isNew }: OutcomeProps) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isNew) place.current?.focus()
  }, [isNew])
  if (state === 'declined') return <Notice focus={place} title="You have declined this. Nothing has happened." />
  if (state === 'expired') return <Notice focus={place} title="This proposal has expired. Nothing has happened." />
  if (state === 'void')
    return <Notice focus={place} title="The key that proposed this has ended. Nothing has happened." />
  // after an answer of 500 or more, the service does not know either whether it was done
  if (status === null || status >= 500)
    return (
      <Notice focus={place} tone="alarm" title="You have confirmed this, and its outcome is not known.">
        <p>Look at what it was about before you do it again.</p>
      </Notice>
    )
  if (status >= 400)
    return (
      <Notice focus={place} tone="alarm" role="alert" title="You have confirmed this, and it was refused.">
        <p>{decided?.detail ?? 'Nothing has happened.'}</p>
      </Notice>
    )
  return (
    <Notice focus={place} title="You have confirmed this, and it is done." icon="check">
      {decided?.secret !== undefined && (
        <>
          <p>This is the new key. It is shown only now, so keep it in a safe place:</p>
          <p class="secret">
            <code>{decided.secret}</code>
          </p>
          <CopyButton text={decided.secret} name="the new key">
            Copy the key
          </CopyButton>
        </>
      )}
    </Notice>
  )
}
