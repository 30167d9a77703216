import { useEffect, useRef, useState } from 'preact/hooks'
import { getMails, ApiError, type Mail } from '../ui/api.ts'
import { moment } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { pageData } from '../ui/page-data.ts'
import { read, write } from '../ui/storage.ts'
import { sentence } from '../ui/words.ts'
import { Letter } from './letter.tsx'

const LOOK_AGAIN_MS = 4_000
/** A pause in the typing of an address. */
const TYPING_MS = 300
const SAVED_TOKEN = 'till:outbox-token'

/**
 * The token from the address that the service printed. The page keeps it and removes it from the address: links from
 * other pages carry none.
 */
function ownToken(): string | undefined {
  const newToken = /^#token=([\w-]+)$/.exec(location.hash)?.[1]
  if (!newToken) return read<string>(SAVED_TOKEN)
  write(SAVED_TOKEN, newToken)
  history.replaceState(null, '', location.pathname + location.search)
  return newToken
}

const token = ownToken()

/**
 * Every mail that a real mail server would have sent, newest first. It polls for new ones while the page is visible.
 */
export function Outbox() {
  const [to, setTo] = useState(new URLSearchParams(location.search).get('to') ?? '')
  // Kept here, because the list is gone while a search finds nothing.
  const [chosen, setChosen] = useState<string>()
  const { mails, trouble } = useMails(to)
  if (trouble instanceof ApiError && (trouble.code === 'token_required' || trouble.code === 'local_only')) {
    return (
      <div class="stack">
        <h1>Outbox</h1>
        <Notice tone="alarm" role="alert" title={trouble.message} />
      </div>
    )
  }
  const isAbsent = pageData.mode?.outbox === false || (trouble instanceof ApiError && trouble.status === 404)
  if (isAbsent) return <p class="lead">There is no outbox here: this service really sends its mails.</p>
  return (
    <>
      <div class="stack">
        <h1>Outbox</h1>
        <p class="lead">No mail server is set, so mails wait here instead of going out.</p>
        <search class="field">
          <label for="to">Mails to</label>
          <input
            id="to"
            type="search"
            inputMode="email"
            autoComplete="off"
            autoCapitalize="none"
            spellcheck={false}
            placeholder="everybody, or one address"
            value={to}
            onInput={(event) => setTo(event.currentTarget.value)}
          />
        </search>
        {trouble ? <Notice tone="alarm" role="alert" title={sentence(trouble)} /> : null}
        <output class="small soft">
          {mails && (mails.length === 0 ? 'No mail yet.' : mails.length === 1 ? '1 mail' : `${mails.length} mails`)}
        </output>
      </div>
      {mails && mails.length > 0 && <Mailbox mails={mails} chosen={chosen} onChoose={setChosen} />}
    </>
  )
}

/** The mails to an address, or to all, as the service has them now. */
function useMails(to: string): { mails: Mail[] | undefined; trouble: unknown } {
  const [mails, setMails] = useState<Mail[]>()
  const [trouble, setTrouble] = useState<unknown>()
  useEffect(() => {
    let over = false
    const load = () =>
      document.visibilityState === 'visible' &&
      getMails(to.trim(), token).then(
        (found) => {
          if (over) return
          setMails(found)
          setTrouble(undefined)
        },
        (failed: unknown) => over || setTrouble(failed),
      )
    const first = setTimeout(load, to ? TYPING_MS : 0)
    const timer = setInterval(load, LOOK_AGAIN_MS)
    return () => {
      over = true
      clearTimeout(first)
      clearInterval(timer)
    }
  }, [to])
  return { mails, trouble }
}

/** The list of the mails, and the chosen one beside it: the newest, until the reader chooses. */
function Mailbox({
  mails,
  chosen,
  onChoose,
}: {
  mails: Mail[]
  chosen: string | undefined
  onChoose: (id: string) => void
}) {
  const letter = useRef<HTMLElement>(null)
  const open = mails.find((mail) => mail.id === chosen) ?? mails[0]
  return (
    <div class="box">
      <ul aria-label="Mails">
        {mails.map((mail) => (
          <li key={mail.id}>
            <button
              type="button"
              aria-current={mail.id === open?.id ? 'true' : undefined}
              onClick={() => {
                onChoose(mail.id)
                letter.current?.focus()
              }}
            >
              <b>{mail.subject}</b>
              <span class="small">{mail.to}</span>
              <time class="small soft" dateTime={mail.sentAt}>
                {moment(mail.sentAt)}
              </time>
            </button>
          </li>
        ))}
      </ul>
      <article ref={letter} tabIndex={-1} aria-label="The mail">
        {open && <Letter mail={open} key={open.id} />}
      </article>
    </div>
  )
}
