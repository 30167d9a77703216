import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { IconName } from './icon.tsx'
import { Notice } from './notice.tsx'

interface RefusalProps {
  title: string
  tone?: 'alarm' | 'trial'
  icon?: IconName
  children?: ComponentChildren
}

/**
 * Why an action was refused. It appears beside the pressed button and takes the focus, so that the browser brings it
 * into view and a screen reader announces it. Give it a new `key` for each try.
 */
export function Refusal({ tone = 'alarm', ...notice }: RefusalProps) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => place.current?.focus(), [])
  return <Notice role="alert" tone={tone} focus={place} {...notice} />
}
