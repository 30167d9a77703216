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
 * Why what somebody asked for was not done. It stands beside the button that was pressed and takes the focus, so that the browser
 * brings it into view and a screen reader is there. Give it a new `key` for each try.
 */
export function Refusal({ tone = 'alarm', ...notice }: RefusalProps) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => place.current?.focus(), [])
  return <Notice role="alert" tone={tone} focus={place} {...notice} />
}
