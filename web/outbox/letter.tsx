import { useState } from 'preact/hooks'
import type { Mail } from '../ui/api.ts'

/** One mail in both of its forms. The HTML is in a frame that can run no script and send no form. */
export function Letter({ mail }: { mail: Mail }) {
  const [plain, setPlain] = useState(false)
  return (
    <>
      <h2>{mail.subject}</h2>
      <p class="soft small">To {mail.to}</p>
      <fieldset class="forms">
        <legend class="unseen">Form of the mail</legend>
        <button type="button" class="button" aria-pressed={!plain} onClick={() => setPlain(false)}>
          As sent
        </button>
        <button type="button" class="button" aria-pressed={plain} onClick={() => setPlain(true)}>
          Plain text
        </button>
      </fieldset>
      {plain ? (
        <pre>{linked(mail.text)}</pre>
      ) : (
        // Links may open a new tab, so that the order page can be tried from here.
        <iframe title="The mail as sent" sandbox="allow-popups allow-popups-to-escape-sandbox" srcdoc={mail.html} />
      )}
    </>
  )
}

/** Turns addresses in plain text into links. All else stays text, so a mail cannot inject markup. */
function linked(text: string) {
  const shown: preact.ComponentChild[] = []
  let end = 0
  for (const { 0: address, index: at } of text.matchAll(/https?:\/\/[^\s<>"]+/g)) {
    shown.push(
      text.slice(end, at),
      <a key={at} href={address}>
        {address}
      </a>,
    )
    end = at + address.length
  }
  return [...shown, text.slice(end)]
}
