import type { Product } from '../api.ts'

const NAMES: Record<Product['status'], [name: string, tone: string]> = {
  draft: ['Draft', ''],
  active: ['On sale', 'good'],
  archived: ['Archived', 'quiet'],
}

export function StatusTag({ status }: Pick<Product, 'status'>) {
  const [name, tone] = NAMES[status]
  return <span class={`tag ${tone}`}>{name}</span>
}
