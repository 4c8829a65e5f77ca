/** Drawn here, since not every system has a font with signs. */
const paths = {
  attach: 'M16.5 6.5v9a4.5 4.5 0 0 1-9 0V6a3 3 0 0 1 6 0v8.5a1.5 1.5 0 0 1-3 0V7',
  back: 'M15 5l-7 7 7 7',
  close: 'M6 6l12 12M18 6L6 18',
  delivered: 'M2 12.5l4.5 4.5L15 8M12.5 16l1 1L22 8',
  down: 'M12 5v14M6 13l6 6 6-6',
  edit: 'M5 19l1-4L16 5l3 3L9 18l-4 1',
  file: 'M7 3h7l4 4v14H7zM14 3v4h4',
  members:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c0-3.5 3-5.5 6.5-5.5s6.5 2 6.5 5.5M16 4.5a3.5 3.5 0 0 1 0 6.5M18 15c2 .7 3.5 2.5 3.5 5',
  pin: 'M9 4h6l-.5 6 3 3.500h-11l3-3.500zM12 13.500V20',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.500L20 20',
  sent: 'M5 12.500l4.5 4.500L19 7.5',
} as const

/** A sign of the look of these components; what it means stands beside it, or is the label of its button. */
export function Icon({ name }: { readonly name: keyof typeof paths }) {
  return (
    <svg className="parley-sign" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}
