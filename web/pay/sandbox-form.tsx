import { useLater } from './later.ts'
import type { SandboxProps } from './sandbox-part.tsx'

const load = () => import('./sandbox-part.tsx')

/** The place of the sandbox's form, which only shops in test mode have. */
export function SandboxForm(props: SandboxProps) {
  const { SandboxPart } = useLater(load).loaded ?? {}
  return SandboxPart ? <SandboxPart {...props} /> : <div class="blank" />
}
