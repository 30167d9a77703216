import type { ComponentChildren } from 'preact'

/** One section of a product's page. */
export const Part = ({ id, title, children }: { id: string; title: string; children: ComponentChildren }) => (
  <section class="part stack" id={id} aria-labelledby={`${id}-title`}>
    <h2 id={`${id}-title`} tabIndex={-1}>
      {title}
    </h2>
    {children}
  </section>
)
