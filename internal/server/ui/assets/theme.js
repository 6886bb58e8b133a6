// Sets the theme before the page is drawn: the chosen one, or else the system's.
try {
  const chosen = localStorage.getItem('fairlead.theme');
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch { /* no storage: the system's theme */ }
