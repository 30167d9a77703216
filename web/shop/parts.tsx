import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Action } from '../ui/action.ts'
import { Notice } from '../ui/notice.tsx'
import { OneMoment } from '../ui/one-moment.tsx'
import { Refusal } from '../ui/refusal.tsx'
import type { Listed, Loaded } from './load.ts'
import { explain } from './words.ts'

interface HeadProps {
  title: string
  /** The line above the title, which names the parent view. */
  above?: ComponentChildren
  /** The buttons of the view. */
  children?: ComponentChildren
}

/** The head of a view. It takes the focus when the view appears, so that a screen reader announces the view. */
export function Head({ title, above, children }: HeadProps) {
  const place = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Till`
  }, [title])
  useEffect(() => {
    // On the first view the browser begins at the top of the page, as everywhere.
    if (document.activeElement !== document.body || moved) place.current?.focus({ preventScroll: true })
    moved = true
  }, [])
  return (
    <header class="head">
      <div>
        {above && <p class="small above">{above}</p>}
        <h1 ref={place} tabIndex={-1}>
          {title}
        </h1>
      </div>
      {children && <div class="row">{children}</div>}
    </header>
  )
}

/** Whether another view was shown before this one. */
let moved = false

/** The loaded value. Until it is there: that it is loading, or why it does not come. */
export function Shown<Value>({
  of: { value, trouble, again },
  children,
}: {
  of: Pick<Loaded<Value>, 'value' | 'trouble' | 'again'>
  children: (value: Value) => ComponentChildren
}) {
  return (
    <>
      {trouble ? <Failed trouble={trouble} again={again} /> : null}
      {value === undefined ? !trouble && <OneMoment /> : children(value)}
    </>
  )
}

export function Failed({ trouble, again }: { trouble: unknown; again?: () => void }) {
  const { title, text } = explain(trouble)
  return (
    <Notice tone="alarm" role="alert" title={title}>
      {text && <p>{text}</p>}
      {again && (
        <button type="button" class="link" onClick={again}>
          Try again
        </button>
      )}
    </Notice>
  )
}

/** The reason of a refusal, beside the button that was pressed. */
export function Refused({ action: { trouble, tries } }: { action: Pick<Action, 'trouble' | 'tries'> }) {
  if (!trouble) return null
  const { title, text } = explain(trouble)
  return (
    <Refusal key={tries} title={title}>
      {text && <p>{text}</p>}
    </Refusal>
  )
}

/** The way to a fresh sign-in, below a refusal that asks for one. */
export const SignInAgain = ({ action, onClick }: { action: Pick<Action, 'refusedFor'>; onClick: () => void }) =>
  action.refusedFor('recent_sign_in_required') && (
    <p>
      <button type="button" class="link" onClick={onClick}>
        Sign in again, and come back here
      </button>
    </p>
  )

/** For an empty list: what to do about it. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty stack">
    <h2>{title}</h2>
    {children}
  </div>
)

/** The next page of a list, on request. */
export const More = <Item,>({ list }: { list: Listed<Item> }) =>
  list.more ? (
    <div class="more">
      {list.moreTrouble ? <Refused action={{ trouble: list.moreTrouble, tries: list.moreTries }} /> : null}
      <button type="button" class="button" aria-disabled={list.busy ? 'true' : undefined} onClick={list.more}>
        {list.busy && <span class="spinner" aria-hidden="true" />}
        Show more
      </button>
    </div>
  ) : null
