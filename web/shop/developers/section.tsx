import type { ComponentChildren } from 'preact'

interface SectionProps {
  id: string
  title: string
  about: ComponentChildren
  children: ComponentChildren
}

/** One section of the developers' page. Its title takes the focus when a form in it closes. */
export const Section = ({ id, title, about, children }: SectionProps) => (
  <section class="developers-section stack" aria-labelledby={`${id}-title`}>
    <div class="about">
      <h2 id={`${id}-title`} tabIndex={-1}>
        {title}
      </h2>
      <p class="soft">{about}</p>
    </div>
    {children}
  </section>
)

/** Moves the focus to a section's title, after the form, the dialog or the button that had it is gone. */
export const focusSection = (id: string): void =>
  void requestAnimationFrame(() => document.getElementById(`${id}-title`)?.focus())
