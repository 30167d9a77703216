import { CodeForm } from './code-form.tsx'
import type { AwaitedCode, MailboxCode, MailboxCodeState } from './mailbox-code.ts'

interface CodeStepProps {
  code: Pick<MailboxCode, 'enterCode' | 'resendCode' | 'change'>
  awaited: AwaitedCode
  state: Pick<MailboxCodeState, 'busy' | 'fault' | 'tries'>
  /** The label of the button. */
  action: string
  /** The label of the way back to the address. */
  change: string
}

/** The step of a page at which a person enters the code from the mail. */
export const CodeStep = ({ code, awaited, state: { busy, fault, tries }, action, change }: CodeStepProps) => (
  <CodeForm
    email={awaited.email}
    sent={awaited.sent}
    resendAt={awaited.resendAt}
    busy={busy}
    fault={fault}
    tries={tries}
    action={action}
    onCode={(digits) => void code.enterCode(digits)}
    onResend={() => void code.resendCode()}
  >
    <button type="button" class="link" onClick={code.change}>
      {change}
    </button>
  </CodeForm>
)
