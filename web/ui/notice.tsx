import type { ComponentChildren, Ref } from 'preact'
import { Icon, type IconName } from './icon.tsx'

interface NoticeProps {
  title: string
  tone?: 'alarm' | 'trial'
  icon?: IconName
  /** Screen readers announce an `alert` at once. Omit it for a notice that is there from the beginning. */
  role?: 'alert'
  focus?: Ref<HTMLDivElement>
  children?: ComponentChildren
}

export const Notice = ({ title, tone, icon, role, focus, children }: NoticeProps) => (
  <div class={`notice ${tone ?? ''}`} role={role} ref={focus ?? null} tabIndex={focus ? -1 : undefined}>
    <Icon name={icon ?? (tone === 'trial' ? 'flask' : 'alert')} />
    <div>
      <b key={title}>{title}</b>
      {children}
    </div>
  </div>
)
