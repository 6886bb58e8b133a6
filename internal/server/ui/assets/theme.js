// Dark or light, before anything is drawn: as the machine has it, or as was chosen.
try {
  const chosen = localStorage.getItem('fairlead.theme');
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch { /* no storage: as the machine has it */ }
